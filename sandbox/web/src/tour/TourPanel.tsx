// The guided tour: the step to do now in full, those before and after as a list.
import type { Mark, Step } from "./progress";
import { current } from "./progress";
import type { TourOfPage } from "./useTour";

export function TourPanel({ tour }: { tour: TourOfPage }) {
  const { steps, progress, isOpen } = tour;
  if (!isOpen) return null;
  const now = current(steps, progress);
  const over = steps.filter((one) => one.id in progress.marks).length;
  return (
    <aside className="tour" aria-label="Tour" data-region data-testid="tour">
      <header className="room-head">
        <h2>Tour</h2>
        <span className="room-about">
          {over} of {steps.length}
        </span>
        <button
          type="button"
          className="button is-plain"
          aria-label="Leave the tour"
          onClick={tour.toggle}
          data-testid="tour-leave"
        >
          ✕
        </button>
      </header>
      <progress max={steps.length} value={over} aria-label="Steps that are over" />
      <ol className="steps" aria-live="polite">
        {steps.map((step) => (
          <StepOf
            key={step.id}
            step={step}
            mark={progress.marks[step.id]}
            isNow={step === now}
            skip={tour.skip}
          />
        ))}
      </ol>
      {now ? null : (
        <p className="tour-over">
          <strong>That was the tour.</strong> The playground is yours: nothing in it is real.
        </p>
      )}
      <footer>
        <button
          type="button"
          className="button is-plain"
          onClick={tour.restart}
          data-testid="tour-restart"
        >
          Start again
        </button>
      </footer>
    </aside>
  );
}

const STATES: Record<Mark, string> = { done: "done", skipped: "skipped" };

function StepOf(props: { step: Step; mark: Mark | undefined; isNow: boolean; skip: () => void }) {
  const { step, mark, isNow } = props;
  const state = isNow ? "now" : mark ? STATES[mark] : "todo";
  return (
    <li
      className={`step is-${state}`}
      aria-current={isNow ? "step" : undefined}
      data-testid="tour-step"
      data-step={step.id}
      data-state={state}
    >
      <h3>
        {step.title}
        {mark ? <span className="sr-only"> ({mark})</span> : null}
      </h3>
      {isNow ? (
        <>
          <p>{step.says}</p>
          <p className="todo">
            <WithCode text={step.todo} />
          </p>
          <button
            type="button"
            className="button is-tiny"
            onClick={props.skip}
            data-testid="tour-skip"
          >
            Skip
          </button>
        </>
      ) : null}
    </li>
  );
}

/** Every other piece between backticks is code. */
function WithCode({ text }: { text: string }) {
  return text
    .split("`")
    .map((piece, index) => (index % 2 ? <code key={`${index}:${piece}`}>{piece}</code> : piece));
}
