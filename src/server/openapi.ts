import { z } from "zod";
import { version } from "../world/version.ts";
import { routes, type Route } from "./routes.ts";

/** The OpenAPI document of the front door, made from its routes. */
export const describeApi = (): object => ({
  openapi: "3.1.0",
  info: {
    title: "Parley",
    version,
    description:
      "Sessions of Parley over HTTP: create, post, decide, cancel, follow, list, export. See docs/server.md.",
  },
  security: [{ bearer: [] }],
  paths: Object.fromEntries(
    [...new Set(routes.map(({ path }) => path))].map((path) => [
      path,
      {
        ...(path.includes("{id}")
          ? { parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }] }
          : {}),
        ...Object.fromEntries(
          routes
            .filter((route) => route.path === path)
            .map((route) => [route.method.toLowerCase(), describeRoute(route)]),
        ),
      },
    ]),
  ),
  components: {
    securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    schemas: {
      Error: {
        type: "object",
        required: ["error"],
        properties: {
          error: {
            type: "object",
            required: ["kind", "message"],
            properties: { kind: { type: "string" }, message: { type: "string" } },
          },
        },
      },
    },
  },
});

const describeRoute = ({ name, about, body, query = {}, success, method }: Route): object => ({
  operationId: name,
  summary: about,
  parameters: [
    ...Object.entries(query).map(([key, description]) => ({
      name: key,
      in: "query",
      description,
      schema: { type: "string" },
    })),
    ...(name === "followSession" ? [header("Last-Event-ID", "The id of the last event that was read.")] : []),
    ...(method === "POST" || method === "PATCH"
      ? [header("Idempotency-Key", "A key of the sender's; a repeated request with it is carried out once.")]
      : []),
  ],
  ...(body === undefined
    ? {}
    : { requestBody: { required: true, content: { "application/json": { schema: toSchema(body) } } } }),
  responses: {
    [success.status]: {
      description: success.about,
      ...(success.status === 204 ? {} : { content: { [success.type ?? "application/json"]: { schema: {} } } }),
    },
    default: {
      description: "An error.",
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    },
  },
});

const header = (name: string, description: string): object => ({
  name,
  in: "header",
  description,
  schema: { type: "string" },
});

const toSchema = (schema: z.ZodType): object => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
};
