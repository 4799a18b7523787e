// The tour of this window: it lives on while one becomes somebody else, and over a reload.
import { useMemo, useSyncExternalStore } from "react";
import type { Happening } from "../slack/live";
import type { Cast } from "../slack/people";
import { begun, heard, type Progress, readProgress, type Step, skipped } from "./progress";
import { stepsFor } from "./steps";

const KEPT = "poolkeeper.tour";
const WIDE = 1100;

class Tour {
  private progress: Progress = readProgress(sessionStorage.getItem(KEPT)) ?? {
    ...begun,
    isOpen: innerWidth >= WIDE,
  };
  private steps: readonly Step[] = [];
  private readonly listeners = new Set<() => void>();

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): Progress => this.progress;

  of(steps: readonly Step[]): void {
    this.steps = steps;
  }

  happens = (one: Happening): void => this.become(heard(this.steps, this.progress, one));
  skip = (): void => this.become(skipped(this.steps, this.progress));
  restart = (): void => this.become(begun);
  toggle = (): void => this.become({ ...this.progress, isOpen: !this.progress.isOpen });

  private become(progress: Progress): void {
    if (progress === this.progress) return;
    this.progress = progress;
    sessionStorage.setItem(KEPT, JSON.stringify(progress));
    for (const listener of this.listeners) listener();
  }
}

const tour = new Tour();

export interface TourOfPage {
  steps: readonly Step[];
  progress: Progress;
  isOpen: boolean;
  happens: (one: Happening) => void;
  skip: () => void;
  restart: () => void;
  toggle: () => void;
}

export function useTour(cast: Cast): TourOfPage {
  const progress = useSyncExternalStore(tour.subscribe, tour.snapshot);
  const steps = useMemo(() => {
    const all = stepsFor(cast);
    tour.of(all);
    return all;
  }, [cast]);
  const { happens, skip, restart, toggle } = tour;
  return { steps, progress, isOpen: progress.isOpen, happens, skip, restart, toggle };
}

/** On another page of the playground: only what happens there. */
export function tellTour(cast: Cast, one: Happening): void {
  tour.of(stepsFor(cast));
  tour.happens(one);
}
