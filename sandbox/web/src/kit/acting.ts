// What can be done with what is pressed, chosen or typed; who draws does not know where it goes.
import { createContext, useContext } from "react";
import type { Block, Element, Held, Offered, Values } from "../slack/model";

/** An element by the ids of its block and its own, as payloads name it. */
export interface Spot {
  block: string;
  action: string;
}

export interface Acting {
  values: Values;
  /** The sentences below fields, by block id. */
  errors: Record<string, string>;
  /** A button, or a menu's entry by its value. Resolves when the app has acknowledged. */
  press(spot: Spot, option?: string): Promise<void>;
  /** One option, several, or null. */
  choose(spot: Spot, chosen: unknown): Promise<void>;
  /** An id of a person or channel, several, a date or a time. */
  put(spot: Spot, value: unknown): Promise<void>;
  attach(spot: Spot, files: { name: string; content: string }[]): Promise<void>;
  /** A text while it is typed; with `send` the app is told of it. */
  type(spot: Spot, text: string, send: boolean): Promise<void>;
  /** What an external select offers for what was typed. */
  offered(spot: Spot, typed: string): Promise<Offered>;
}

/** For what is only shown: everything can be touched, nothing comes of it. */
export const SHOWN_ONLY: Acting = {
  values: {},
  errors: {},
  press: async () => {},
  choose: async () => {},
  put: async () => {},
  attach: async () => {},
  type: async () => {},
  offered: async () => ({ options: [] }),
};

const Deeds = createContext<Acting>(SHOWN_ONLY);
export const ActingIn = Deeds.Provider;
export const useActing = (): Acting => useContext(Deeds);

export function spotOf(block: Block, element: Element): Spot {
  return { block: block.block_id ?? "", action: element.action_id ?? "" };
}

export function heldIn(values: Values, spot: Spot): Held | undefined {
  return values[spot.block]?.[spot.action];
}
