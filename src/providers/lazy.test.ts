import { expect, it } from "vitest";
import { providers } from "./all.ts";
import type { Auth } from "./define.ts";
import { lazyProviders, loadProvider } from "./lazy.ts";
import { UnknownNameError } from "./unknown-name.ts";

const keysOf = (auth: Auth): readonly string[] =>
  "env" in auth && auth.optional !== true ? [...auth.env, ...(auth.tokens ?? [])] : [];

it("has every provider, with its keys, in the order they are preferred", async () => {
  expect(await Promise.all(lazyProviders.map(({ load }) => load()))).toEqual(providers);
  expect(lazyProviders.map(({ id, keys }) => ({ id, keys }))).toEqual(
    providers.map(({ id, auth }) => ({ id, keys: keysOf(auth) })),
  );
});

it("suggests the nearest names for an unknown id", () => {
  expect(() => loadProvider("antropic")).toThrow(UnknownNameError);
  expect(() => loadProvider("antropic")).toThrow("anthropic");
});
