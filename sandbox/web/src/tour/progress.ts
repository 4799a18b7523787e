// How far the tour is. Pure: a step is over when something happened that shows it.
import type { Happening } from "../slack/live";

export interface Step {
  id: string;
  title: string;
  /** One or two sentences why. */
  says: string;
  /** What to do; `code` is shown as such. */
  todo: string;
  isDone: (happening: Happening) => boolean;
}

export type Mark = "done" | "skipped";

/** `isOpen` is whether the panel is shown; `marks` is what became of steps, by id. */
export interface Progress {
  isOpen: boolean;
  marks: Record<string, Mark>;
}

/** The step that is to be done now; none when all are over. */
export function current(steps: readonly Step[], { marks }: Progress): Step | undefined {
  return steps.find((one) => !(one.id in marks));
}

/** The progress after something happened; the same object when it means nothing here. */
export function heard(steps: readonly Step[], progress: Progress, happening: Happening): Progress {
  const step = current(steps, progress);
  if (!step || !progress.isOpen || !step.isDone(happening)) return progress;
  return marked(progress, step.id, "done");
}

export function skipped(steps: readonly Step[], progress: Progress): Progress {
  const step = current(steps, progress);
  return step ? marked(progress, step.id, "skipped") : progress;
}

export const begun: Progress = { isOpen: true, marks: {} };

function marked(progress: Progress, id: string, mark: Mark): Progress {
  return { ...progress, marks: { ...progress.marks, [id]: mark } };
}

/** What was kept of an earlier visit, or nothing where it cannot be read. */
export function readProgress(kept: string | null): Progress | undefined {
  try {
    const found = JSON.parse(kept ?? "null");
    if (typeof found?.isOpen !== "boolean" || typeof found?.marks !== "object") return undefined;
    return { isOpen: found.isOpen, marks: found.marks ?? {} };
  } catch {
    return undefined;
  }
}
