// F6 goes from one part of the page to the next, out of an open dialog too.
import { useEffect } from "react";

const REACHED = 'textarea, input, button, a[href], [tabindex="0"]';

export function useRegions(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "F6") return;
      event.preventDefault();
      const regions = [...document.querySelectorAll<HTMLElement>("[data-region]")].filter(
        (one) => one.offsetParent !== null && !one.closest("[inert]"),
      );
      const innermost = regions.filter((one) => one.contains(document.activeElement)).at(-1);
      const step = event.shiftKey ? -1 : 1;
      const now = innermost ? regions.indexOf(innermost) : -1;
      const next = regions[(now + step + regions.length) % regions.length];
      next?.querySelector<HTMLElement>(REACHED)?.focus();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
