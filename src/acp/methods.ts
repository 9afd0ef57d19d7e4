import type { AgentCapabilities } from "@agentclientprotocol/sdk";

/** The methods of the protocol that need a session or the session store, and what serves them. */
export const sessionMethods = {
  "session/new": "create",
  "session/load": "load",
  "session/resume": "resume",
  "session/list": "list",
  "session/delete": "remove",
  "session/close": "close",
  "session/prompt": "prompt",
  "session/set_mode": "setMode",
  "session/set_config_option": "setOption",
  "session/set_model": "setModel",
} as const;

export type SessionMethod = keyof typeof sessionMethods;

export const isSessionMethod = (method: string): method is SessionMethod => Object.hasOwn(sessionMethods, method);

/** The capabilities of the agent: a method is advertised if and only if it is served. */
export const agentCapabilities = (): AgentCapabilities => ({
  loadSession: isSessionMethod("session/load"),
  promptCapabilities: { image: true, audio: true, embeddedContext: true },
  mcpCapabilities: { http: true, sse: true },
  sessionCapabilities: {
    ...Object.fromEntries(
      (["list", "delete", "resume", "close"] as const).flatMap((name) =>
        isSessionMethod(`session/${name}`) ? [[name, {}]] : [],
      ),
    ),
    additionalDirectories: {},
  },
});
