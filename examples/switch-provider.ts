/*
 * Switches to another provider in the middle of a tool loop. One model made the
 * calls, the next response comes from another, and then the first one continues:
 * each gets tool-call ids and thinking it accepts.
 */
import { call, done, Ledger, renderRequest, text, type Conversation, type Origin } from "parley-agent";

const ledger = new Ledger();
const conversation = (): Conversation => ({
  version: 1,
  entries: ledger.entries,
  blobs: {},
  tools: [{ name: "weather" }],
});
const show = (to: string): void => {
  const { report } = renderRequest(conversation(), to);
  const calls = report.calls.map(({ id, status }) => `${id} (${status})`).join(", ");
  const decisions = report.notes.map(({ kind }) => kind).join(", ") || "nothing to decide";
  console.log(`${to}\n  calls: ${calls}\n  ${decisions}`);
};

const claude: Origin = { provider: "anthropic", model: "claude-sonnet-5" };
ledger.user([text("Is it warmer in Oslo or in Rome?")]);
const [oslo, rome] = ledger.model(claude, [
  { type: "thinking", text: "Two lookups.", seal: { signature: "c2lnbmVk" } },
  call("weather", { city: "Oslo" }, "toolu_01"),
  call("weather", { city: "Rome" }, "toolu_02"),
]);
ledger.complete(oslo!.id, "weather", done("4 C"));
ledger.complete(rome!.id, "weather", done("18 C"));

// Claude made the calls; Kimi and Mistral could take over with the results.
show("anthropic/claude-sonnet-5");
show("kimi");
show("mistral");

// Kimi does, and asks for one thing more; then Claude continues.
const [bergen] = ledger.model({ provider: "kimi", model: "kimi-k3" }, [
  text("Rome. Let me see one more town."),
  call("weather", { city: "Bergen" }, "functions.weather:2"),
]);
ledger.complete(bergen!.id, "weather", done("6 C"));
show("anthropic/claude-sonnet-5");
