import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../built.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

/* The manifest in acp-registry, for the registry that editors install agents from. */
describe("the registry manifest", () => {
  it("names this version of the package", () => {
    const { name, version, license } = JSON.parse(read("package.json")) as Record<string, string>;
    expect(JSON.parse(read("acp-registry/agent.json"))).toEqual({
      id: "parley",
      name: "Parley",
      version,
      description: expect.stringMatching(/^.{20,120}$/) as string,
      license,
      icon: "icon.svg",
      distribution: { npx: { package: `${name}@${version}`, args: ["acp"] } },
    });
  });

  it("has an icon of 16 by 16 that takes the editor's color", () => {
    const icon = read("acp-registry/icon.svg");
    expect(icon).toContain('width="16" height="16"');
    expect([...icon.matchAll(/(?:fill|stroke)="([^"]*)"/g)].map(([, color]) => color)).toEqual([
      "none",
      "currentColor",
    ]);
  });
});
