// Radio buttons and checkboxes.
import { useId } from "react";
import type { Option } from "../slack/model";
import { heldIn, spotOf, useActing } from "./acting";
import { useAsking } from "./asking";
import type { Drawn } from "./ElementOf";
import { useOptimistic } from "./optimistic";

export function Radios(props: Drawn) {
  const { acting, spot, ask, dialog, options } = useOptions(props);
  const held = heldIn(acting.values, spot);
  const [chosen, show] = useOptimistic(held?.selected_option?.value, held);
  const turn = (one: Option) =>
    ask(() => {
      show(one.value);
      void acting.choose(spot, one);
    });
  return (
    <div className="kit-ticks" role="radiogroup" {...namesOf(props)}>
      <Lines kind="radio" options={options} isChosen={(one) => one.value === chosen} turn={turn} />
      {dialog}
    </div>
  );
}

export function Checkboxes(props: Drawn) {
  const { acting, spot, ask, dialog, options } = useOptions(props);
  const held = heldIn(acting.values, spot);
  const [chosen, show] = useOptimistic(held?.selected_options ?? [], held);
  const isChosen = (one: Option) => chosen.some((other) => other.value === one.value);
  const turn = (one: Option) => {
    const left = chosen.filter((other) => other.value !== one.value);
    const next = isChosen(one) ? left : [...chosen, one];
    ask(() => {
      show(next);
      void acting.choose(spot, next);
    });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend besides the label
    <div className="kit-ticks" role="group" {...namesOf(props)}>
      <Lines kind="checkbox" options={options} isChosen={isChosen} turn={turn} />
      {dialog}
    </div>
  );
}

function useOptions({ block, element }: Drawn) {
  const acting = useActing();
  const [ask, dialog] = useAsking(element);
  return { acting, ask, dialog, spot: spotOf(block, element), options: element.options ?? [] };
}

const namesOf = ({ labelledBy, describedBy }: Drawn) => ({
  "aria-labelledby": labelledBy,
  "aria-describedby": describedBy,
});

function Lines(props: {
  kind: "radio" | "checkbox";
  options: Option[];
  isChosen: (one: Option) => boolean;
  turn: (one: Option) => void;
}) {
  const name = useId();
  return props.options.map((option) => (
    <label key={option.value} className="kit-tick">
      <input
        type={props.kind}
        name={name}
        checked={props.isChosen(option)}
        onChange={() => props.turn(option)}
      />
      <span>
        {option.text.text}
        {option.description ? <small>{option.description.text}</small> : null}
      </span>
    </label>
  ));
}
