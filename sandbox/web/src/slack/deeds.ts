// What a person does in a message or view, told to the scripting door of the loopback Slack.
import type { Doc } from "../api/door";
import type { Acting, Spot } from "../kit/acting";
import type { LiveWorkspace } from "./live";
import type { Block, Offered, Values } from "./model";

const PAUSE = 200;

/** Texts that were typed and not told yet; whatever is done next waits for them. */
export class Typing {
  private readonly waiting = new Map<
    string,
    { timer: ReturnType<typeof setTimeout>; tell: Tell }
  >();
  private told: Promise<unknown> = Promise.resolve();

  later(key: string, tell: Tell): void {
    clearTimeout(this.waiting.get(key)?.timer);
    const timer = setTimeout(() => this.now(key), PAUSE);
    this.waiting.set(key, { timer, tell });
  }

  /** Tells everything that waits, and resolves when all of it is told. */
  async flush(): Promise<void> {
    for (const key of [...this.waiting.keys()]) this.now(key);
    await this.told;
  }

  private now(key: string): void {
    const found = this.waiting.get(key);
    if (!found) return;
    clearTimeout(found.timer);
    this.waiting.delete(key);
    // One after the other: a word must not overtake the one that was typed after it.
    this.told = this.told.then(found.tell, found.tell).catch(() => undefined);
  }
}

type Tell = () => Promise<unknown>;

/** Where something is done: {view}, {home: true} or {channel, ts}. */
export interface Place {
  where: Doc;
  values: Values;
  errors: Record<string, string>;
  /** A message's blocks as they are seen, which may have changed since. */
  blocks?: Block[];
}

export function actingIn(
  live: LiveWorkspace,
  typing: Typing,
  place: Place,
  fails: (error: unknown) => void,
): Acting {
  const { where, blocks } = place;
  const about = (spot: Spot, more: Doc): Doc => ({
    where,
    spot,
    ...(blocks && { blocks }),
    ...more,
  });
  const tell = async (deed: string, spot: Spot, more: Doc) => {
    try {
      await typing.flush();
      await live.do(deed, about(spot, more));
    } catch (error) {
      fails(error);
    }
  };
  return {
    values: place.values,
    errors: place.errors,
    press: (spot, option) => {
      const pressed = option === undefined ? spot : { ...spot, option };
      return tell("press", pressed, {});
    },
    choose: (spot, chosen) => tell("choose", spot, { chosen }),
    put: (spot, value) => tell("choose", spot, { chosen: value }),
    attach: (spot, files) => tell("fill", spot, { value: files }),
    type: async (spot, text, send) => {
      const fill = (typed: boolean) =>
        live.do("fill", about(spot, { value: text, typing: typed })).catch(fails);
      if (send) {
        await typing.flush();
        await fill(false);
      } else
        typing.later(`${JSON.stringify(where)} ${spot.block} ${spot.action}`, () => fill(true));
    },
    offered: async (spot, typed) => {
      await typing.flush();
      const said = await live.do<{ offered: Offered }>("options", about(spot, { typed }));
      return said.offered;
    },
  };
}
