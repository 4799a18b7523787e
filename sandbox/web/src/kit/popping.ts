// A list that stands above everything, next to what opened it, and goes when one turns away.
import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useState } from "react";

const GAP = 4;
const ROOM = 16;

export interface Popped {
  isOpen: boolean;
  open: () => void;
  close: () => void;
}

/** `list` is a popover="manual" element, drawn only while it is open. */
export function usePopping(
  anchor: RefObject<HTMLElement | null>,
  list: RefObject<HTMLElement | null>,
): Popped {
  const [isOpen, setOpen] = useState(false);

  useLayoutEffect(() => {
    if (!isOpen || !anchor.current || !list.current) return;
    list.current.showPopover?.();
    place(anchor.current, list.current);
  });

  useEffect(() => {
    if (!isOpen) return;
    const outside = ({ target }: Event) => {
      const inside = (one: HTMLElement | null) => one?.contains(target as Node);
      if (!inside(anchor.current) && !inside(list.current)) setOpen(false);
    };
    const moved = (event: Event) => {
      if (list.current?.contains(event.target as Node)) return;
      if (anchor.current && list.current) place(anchor.current, list.current);
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("scroll", moved, true);
    addEventListener("resize", moved);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("scroll", moved, true);
      removeEventListener("resize", moved);
    };
  }, [isOpen, anchor, list]);

  return { isOpen, open: () => setOpen(true), close: () => setOpen(false) };
}

/** What a key does in such a list; the window around it, which Escape closes too, hears nothing. */
export function obey(event: KeyboardEvent, keys: Record<string, () => void>): void {
  const does = keys[event.key];
  if (!does) return;
  event.preventDefault();
  event.stopPropagation();
  does();
}

/** Below what opened it, or above where there is more room; never beyond the window. */
function place(anchor: HTMLElement, list: HTMLElement): void {
  const at = anchor.getBoundingClientRect();
  const width = Math.max(at.width, 220);
  const below = innerHeight - at.bottom - ROOM;
  const above = at.top - ROOM;
  const isBelow = below >= Math.min(list.scrollHeight, 280) || below >= above;
  list.style.width = `${Math.min(width, innerWidth - 2 * ROOM)}px`;
  list.style.maxHeight = `${Math.min(isBelow ? below : above, 340)}px`;
  list.style.left = `${Math.max(ROOM / 2, Math.min(at.left, innerWidth - width - ROOM))}px`;
  list.style.top = isBelow ? `${at.bottom + GAP}px` : "auto";
  list.style.bottom = isBelow ? "auto" : `${innerHeight - at.top + GAP}px`;
}
