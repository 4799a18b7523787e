// What a select offers for what was typed into it, and a sentence where that is nothing.
import { useEffect, useState } from "react";
import { spotOf, useActing } from "./acting";
import { type Choice, filtered, inWorkspace, isExternal, offeredBy } from "./choices";
import type { Drawn } from "./ElementOf";
import { useWorkspace } from "./workspace";

const PAUSE = 120;

export function useChoices(
  { block, element }: Drawn,
  typed: string,
): { choices: Choice[]; told: string } {
  const acting = useActing();
  const { people, channels } = useWorkspace();
  const external = isExternal(element);
  const [found, setFound] = useState<Choice[] | undefined>();
  const [problem, setProblem] = useState("");
  const least = element.min_query_length ?? 3;
  const isShort = external && typed.length < least;

  useEffect(() => {
    if (!external || isShort) return;
    let isLate = false;
    const timer = setTimeout(
      async () => {
        try {
          const offered = await acting.offered(spotOf(block, element), typed);
          if (!isLate) setFound(offeredBy(offered));
        } catch (error) {
          if (!isLate) setProblem(String(error instanceof Error ? error.message : error));
        }
      },
      typed ? PAUSE : 0,
    );
    return () => {
      isLate = true;
      clearTimeout(timer);
    };
  }, [external, isShort, typed]);

  if (isShort) return { choices: [], told: `Type ${least} characters or more.` };
  if (external && problem) return { choices: [], told: problem };
  if (external && !found) return { choices: [], told: "Asking the app…" };
  const offered = element.options || element.option_groups ? offeredBy(element) : undefined;
  const all = external ? (found ?? []) : (offered ?? inWorkspace(element, people, channels));
  const choices = external ? all : filtered(all, typed);
  return {
    choices,
    told:
      choices.length > 0 ? "" : typed ? "Nothing is called that." : "There is nothing to choose.",
  };
}
