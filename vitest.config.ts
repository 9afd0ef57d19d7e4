import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    testTimeout: 240_000,
    hookTimeout: 240_000,
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: "parley", include: ["src/**/*.test.ts", "test/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "oracles",
          include: ["oracles/*.test.ts", "oracles/clients/*.test.ts", "oracles/mcp/*.test.ts"],
          globalSetup: "test/support/oracles-setup.ts",
        },
      },
    ],
  },
});
export default config;
