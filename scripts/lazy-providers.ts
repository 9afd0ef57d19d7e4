/*
 * Writes src/providers/lazy.data.ts from the registry: each provider's id and telemetry name, the variables of its
 * key, and the module that defines it.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { providers } from "../src/providers/all.ts";
import type { Auth, Provider } from "../src/providers/define.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "src", "providers");
const definitions = join(folder, "definitions");

/** Environment variables with a key of a provider that needs one. */
export const keyVariables = (auth: Auth): readonly string[] =>
  "env" in auth && auth.optional !== true ? [...auth.env, ...(auth.tokens ?? [])] : [];

/** Writes the list of lazy providers. */
export const writeLazyProviders = async (): Promise<void> => {
  const path = join(folder, "lazy.data.ts");
  const sources = await findSources();
  writeFileSync(path, [header, ...providers.map((provider) => entryOf(provider, sources)), "];", ""].join("\n"));
  execFileSync(join(root, "node_modules", ".bin", "oxfmt"), [path]);
};

const header = `/*
 * The registry in all.ts without the providers themselves, so that start-up loads one provider instead of all.
 * Written by scripts/lazy-providers.ts, which \`npx tsx scripts/docs.ts\` runs: change all.ts, not this.
 */
import type { LazyProvider } from "./define.ts";

/** Every provider, in order of preference. */
export const lazyProviders: readonly LazyProvider[] = [`;

/** The file and the exported name of every provider. */
type ProviderSource = { readonly file: string; readonly name: string };

const findSources = async (): Promise<ReadonlyMap<unknown, ProviderSource>> => {
  const sources = new Map<unknown, ProviderSource>();
  for (const file of readdirSync(definitions)) {
    const module = (await import(pathToFileURL(join(definitions, file)).href)) as Readonly<Record<string, unknown>>;
    for (const [name, value] of Object.entries(module)) sources.set(value, { file, name });
  }
  return sources;
};

const entryOf = (provider: Provider, sources: ReadonlyMap<unknown, ProviderSource>): string => {
  const source = sources.get(provider);
  if (source === undefined)
    throw new Error(`No file in src/providers/definitions exports the provider "${provider.id}".`);
  const load = `async () => (await import("./definitions/${source.file}")).${source.name}`;
  const name = provider.telemetryName === undefined ? "" : `telemetryName: ${JSON.stringify(provider.telemetryName)}, `;
  return `{ id: ${JSON.stringify(provider.id)}, ${name}keys: ${JSON.stringify(keyVariables(provider.auth))}, load: ${load} },`;
};
