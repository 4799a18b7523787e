// Whether any dialog is open, for what lies below it and is out of reach meanwhile.
import { useEffect, useSyncExternalStore } from "react";

let open = 0;
let opener: HTMLElement | null = null;
const listeners = new Set<() => void>();

function change(by: number): void {
  if (open === 0) opener = focused() ?? opener;
  open += by;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useIsDialogOpen = (): boolean => useSyncExternalStore(subscribe, () => open > 0);

/** Counts the dialog that is drawn as open. */
export function useAsDialog(): void {
  useEffect(() => {
    change(1);
    return () => change(-1);
  }, []);
}

/** What has the keyboard; nothing has it when that is the page itself. */
export function focused(): HTMLElement | null {
  const now = document.activeElement;
  return now instanceof HTMLElement && now !== document.body ? now : null;
}

/** Gives the keyboard back: to what had it before a dialog, or before all of them. */
export function giveBack(before: HTMLElement | null): void {
  const fitting = [before, open === 0 ? opener : null].find(
    (one) => one?.isConnected && !one.closest("[inert]"),
  );
  fitting?.focus();
}
