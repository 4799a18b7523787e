// Requests to the playground's own server. What it refuses is an Error with its sentence.
export type Doc = Record<string, unknown>;

export class Refused extends Error {}

/** The answer to `POST path`; throws Refused with the server's words, or that it is away. */
export async function ask<T>(path: string, body: Doc = {}): Promise<T> {
  return answer<T>(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

export async function look<T>(path: string): Promise<T> {
  return answer<T>(path, { cache: "no-store" });
}

async function answer<T>(path: string, how: RequestInit): Promise<T> {
  const got = await fetch(path, how).catch(() => {
    throw new Refused("The playground does not answer.");
  });
  const said = await got.json().catch(() => ({}));
  if (!got.ok) throw new Refused(said.error ?? `The playground answered ${got.status}.`);
  return said as T;
}
