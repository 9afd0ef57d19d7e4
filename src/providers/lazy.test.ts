import { expect, it } from "vitest";
import { keyVariables } from "../../scripts/lazy-providers.ts";
import { providers } from "./all.ts";
import { lazyProviders } from "./lazy.data.ts";
import { loadProvider } from "./lazy.ts";
import { UnknownNameError } from "./unknown-name.ts";

const outdated = "src/providers/lazy.data.ts is out of date. Run: npx tsx scripts/docs.ts";

it("has every provider of the registry, with its telemetry name and keys, in order of preference", async () => {
  expect(await Promise.all(lazyProviders.map(({ load }) => load())), outdated).toEqual(providers);
  expect(
    lazyProviders.map(({ id, telemetryName, keys }) => ({ id, telemetryName, keys })),
    outdated,
  ).toEqual(providers.map(({ id, telemetryName, auth }) => ({ id, telemetryName, keys: keyVariables(auth) })));
});

it("suggests the nearest names for an unknown id", () => {
  expect(() => loadProvider("antropic")).toThrow(UnknownNameError);
  expect(() => loadProvider("antropic")).toThrow("anthropic");
});
