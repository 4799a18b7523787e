// The people one can be here, as the playground describes them.
import { ask, look } from "../api/door";
import type { Workspace } from "./model";

export interface Role {
  id: string;
  name: string;
  role: string;
  colour?: string;
  initials?: string;
}

export interface Cast {
  people: Role[];
  /** What the tour has to know of the company. */
  tour?: {
    policies?: string[];
    admins?: string[];
    members?: Record<string, string[]>;
  };
}

/** The cast of the playground, or simply everybody where the server has none. */
export async function loadCast(): Promise<Cast> {
  return look<Cast>("/playground/people").catch(async () => {
    const { people } = await ask<Workspace>("/sandbox/workspace");
    const real = people.filter((one) => !one.is_bot);
    return { people: real.map(({ id, name }) => ({ id, name, role: "" })) };
  });
}
