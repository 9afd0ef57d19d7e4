/**
 * Loads what the agent loads late. In simulated time nothing may wait for the real disk: the clock would run on meanwhile.
 */
export const warmUp = async (): Promise<void> => {
  await Promise.all([
    import("../../src/providers/models.ts"),
    import("../../src/agent/models/switch-check.ts"),
    import("eventsource-parser"),
    import("@smithy/signature-v4"),
    import("@smithy/eventstream-codec"),
    import("zod"),
  ]);
};
