// A scenario as the fragment of a link: deflated, in base64url. A fragment is never sent to a server.

import type { Scenario } from "./run.ts";

/** longest is the length of a fragment that every browser and chat still takes. */
export const longest = 16 << 10;

const prefix = "#s=";

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** fragmentOf returns the fragment of a scenario, #s=... */
export async function fragmentOf(scenario: Scenario): Promise<string> {
  const packed = await through(new TextEncoder().encode(JSON.stringify(scenario)), new CompressionStream("deflate-raw"));
  const binary = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return prefix + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** scenarioIn returns the scenario of a fragment, or undefined if it has none. It throws where it is damaged. */
export async function scenarioIn(fragment: string): Promise<Scenario | undefined> {
  if (!fragment.startsWith(prefix)) return undefined;
  const binary = atob(fragment.slice(prefix.length).replaceAll("-", "+").replaceAll("_", "/"));
  const packed = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const text = new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw")));
  const scenario = JSON.parse(text) as Scenario;
  if (!Array.isArray(scenario.files)) throw new Error("it has no files");
  return scenario;
}
