import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { Contract } from '../contract.ts';
import { CLUSTER_EVENTS } from '../events/cluster.ts';
import { GATEWAY_EVENTS, type GatewayEventRow } from '../events/gateway.ts';
import { GLOBAL_EVENTS } from '../events/global.ts';
import { TRANSIENT_EVENTS } from '../events/transient.ts';
import { Frame } from '../frames.ts';
import { type Endpoint, hasBody } from '../http/endpoint.ts';
import { ENDPOINTS } from '../http/index.ts';
import { routedPath } from '../http/routed.ts';
import { CONTRACTS } from '../index.ts';
import { LIMITS } from '../limits.ts';
import { StreamEvent } from '../stream-events.ts';
import { addExamples } from './examples.ts';
import { generalErrors, withGeneralErrors } from './general-errors.ts';

/** Every frame, method and event: committed as protocol/generated/schema.json. Used as a schema, it accepts any frame. */
export function jsonSchemaDocument() {
  // The view of a client: defaults make fields optional, and events may get more fields.
  const { $defs, properties = {} } = z.toJSONSchema(z.object(schemasByPlace()), { io: 'input', override: tidy });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Gateway protocol',
    description: 'Any frame. Methods, events and the events of a workstream’s log are listed by name.',
    ...asObject(properties.Frame),
    methods: mapValues<Contract, object>(CONTRACTS, ({ summary, scope, idempotency, interim }, name) => ({
      summary,
      scope,
      idempotency,
      params: properties[`${name} params`],
      interim: interim && properties[`${name} interim`],
      result: properties[`${name} result`],
    })),
    events: mapValues<GatewayEventRow, object>(GATEWAY_EVENTS, (row, name) => ({
      ...row,
      payload: properties[`${name} payload`],
    })),
    streamEvents: properties.StreamEvent,
    transientEvents: mapValues<z.ZodType, unknown>(TRANSIENT_EVENTS, (_, name) => properties[`${name} frame`]),
    $defs,
  };
}

/** The HTTP interface as OpenAPI 3.1: served at /openapi.json and committed as protocol/generated/openapi.json. */
export function openApiDocument(version: string) {
  const paths: ZodOpenApiPathsObject = {};
  for (const [group, rows] of Object.entries(ENDPOINTS))
    for (const [name, row] of Object.entries<Endpoint>(rows)) {
      addOperation(paths, row, { group, name });
      const routed = routedPath(row);
      if (routed !== undefined)
        addOperation(paths, { ...row, path: routed }, { group: 'route', name: `${group}.${name}` });
    }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Headgate',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        description:
          'Conversations with an agent over HTTP and server-sent events. Bodies are JSON; an unreadable body ' +
          'counts as an empty object, and missing fields take their defaults. Every answer has the header X-Request-Id: the one ' +
          'of the request (1 to 64 letters, digits, dots, hyphens or underscores), or a new one. Errors have it in the body, ' +
          'too, as `request_id`. HTTP.md describes it in full.',
      },
      security: [{ bearer: [] }, { cookie: [] }],
      tags: [...Object.keys(ENDPOINTS), 'route', 'documents'].map((name) => ({ name })),
      paths: { ...paths, ...PLAIN_PATHS },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'The operator token of the home folder, or a login’s jwt.',
          },
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: 'service_auth',
            description: 'Set by auth/login; for browsers.',
          },
        },
        schemas: { ErrorReply },
        responses: generalErrors,
      },
    },
    { override: tidy },
  );
  return addExamples(withGeneralErrors(document));
}

/** All schemas of the WebSocket side, so that one conversion shares their definitions. */
export function schemasByPlace(): Record<string, z.ZodType> {
  const places: Record<string, z.ZodType> = { Frame, StreamEvent };
  for (const [name, row] of Object.entries<Contract>(CONTRACTS)) {
    places[`${name} params`] = row.params();
    places[`${name} result`] = row.result();
    if (row.interim !== undefined) places[`${name} interim`] = row.interim();
  }
  for (const [name, row] of Object.entries<GatewayEventRow>(GATEWAY_EVENTS)) places[`${name} payload`] = row.payload;
  for (const [name, schema] of Object.entries(TRANSIENT_EVENTS)) places[`${name} frame`] = schema;
  // Only over HTTP, but documented with their fixtures like all named schemas.
  for (const [name, schema] of Object.entries(GLOBAL_EVENTS)) places[`global ${name} frame`] = schema;
  for (const [name, schema] of Object.entries(CLUSTER_EVENTS)) places[`cluster ${name} frame`] = schema;
  return places;
}

/** Allows further fields in replies, and drops the bounds of safe integers. */
export function tidy({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodTypes;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  const { def } = zodSchema._zod;
  if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

const ErrorReply = z.object({
  error: z.string().meta({ description: 'The problem, for people.' }),
  request_id: z.string().meta({ description: 'Names the request in the log; the same as the header `X-Request-Id`.' }),
  hint: z.string().optional().meta({ description: 'Present if the body could not be read.' }),
});

const json = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } });

const plain = (summary: string, mediaType: string, schema: z.ZodType = z.string()) => ({
  get: {
    summary,
    tags: ['documents'],
    security: [],
    responses: { '200': { description: 'OK', content: { [mediaType]: { schema } } } },
  },
});

const plainFile = (summary: string): ZodOpenApiPathsObject[string] => {
  const { get } = plain(summary, '*/*');
  const missing = { description: 'Not found', content: { 'text/plain; charset=utf-8': { schema: z.string() } } };
  const requestParams = { path: z.object({ file: z.string() }) };
  return { get: { ...get, requestParams, responses: { ...get.responses, '404': missing } } };
};

const PLAIN_PATHS: ZodOpenApiPathsObject = {
  '/': plain('The page: one self-contained document.', 'text/html; charset=utf-8'),
  '/metrics': plain('Counters and gauges for Prometheus.', 'text/plain; version=0.0.4; charset=utf-8'),
  '/openapi.json': plain('This document.', 'application/json', z.object({})),
  '/docs': plain('This document as a page that can send requests.', 'text/html; charset=utf-8'),
  '/licenses.txt': plain('Licences of the software in the page.', 'text/plain; charset=utf-8'),
  '/static/{file}': plainFile('A script or style sheet of the pages, such as `app.js`.'),
  '/shared/{file}': plainFile('A style sheet that pages share: `base.css`.'),
};

/** OpenAPI has no path fields with slashes, so such a field is documented like any other. */
export function addOperation(paths: ZodOpenApiPathsObject, row: Endpoint, names: { group: string; name: string }) {
  const path = row.path.replaceAll('{+', '{');
  paths[path] = { ...paths[path], [row.verb]: operationOf(row, names) };
}

function operationOf(row: Endpoint, { group, name }: { group: string; name: string }): ZodOpenApiOperationObject {
  const { path, rest } = placesOf(row);
  const needs = row.scope === 'public' ? 'Needs no credential.' : `Needs the scope \`${row.scope}\`.`;
  return {
    operationId: group === name ? name : `${group}.${name}`,
    summary: row.summary,
    description: needs,
    tags: [group],
    ...(row.scope === 'public' ? { security: [] } : {}),
    requestParams: {
      ...(path && { path }),
      ...(!hasBody(row.verb) && rest ? { query: rest } : {}),
      ...headersOf(row),
    },
    ...(hasBody(row.verb) ? { requestBody: bodyOf(row, rest) } : {}),
    responses: {
      ...Object.fromEntries(statusesOf(row).map((status) => [`${status}`, successOf(row, status)])),
      ...errorsOf(row),
    },
  };
}

/** The fields that the path names, and the others. */
function placesOf({ path, request: make }: Endpoint): { path?: z.ZodObject; rest?: z.ZodObject } {
  const request = make();
  if (!(request instanceof z.ZodObject)) return {};
  const isNamed = (name: string) => path.includes(`{${name}}`) || path.includes(`{+${name}}`);
  const part = (named: boolean) =>
    z.object(Object.fromEntries(Object.entries(request.shape).filter(([name]) => isNamed(name) === named)));
  return path.includes('{') ? { path: part(true), rest: part(false) } : { rest: request };
}

function bodyOf({ body, formToo, request }: Endpoint, rest: z.ZodObject | undefined) {
  if (body === 'multipart') return { content: { 'multipart/form-data': { schema: rest ?? request() } } };
  const { content } = json(rest ?? request());
  return { content: { ...content, ...(formToo && { 'multipart/form-data': { schema: Form } }) } };
}

/** `meta` is the JSON of the other form of the request. */
const Form = z.object({ meta: z.string(), file: z.array(z.file()).max(LIMITS.attachmentsPerMessage).optional() });

const statusesOf = ({ status }: Endpoint): number[] => (status === '200 or 201' ? [200, 201] : [status ?? 200]);

function successOf({ answers, reply }: Endpoint, status: number) {
  if (status === 204) return { description: 'Done.' };
  if (status === 302) return { description: 'Redirect.', headers: z.object({ Location: z.string() }) };
  if (answers === 'file')
    return { description: 'The file, with the content type of its bytes.', content: { '*/*': { schema: reply() } } };
  if (answers !== 'event-stream') return { description: status === 201 ? 'Created' : 'OK', ...json(reply()) };
  const description = 'The `data:` of each event is an object of this schema.';
  return { description, content: { 'text/event-stream': { schema: reply() } } };
}

function headersOf(row: Endpoint) {
  const header = z.object({
    ...(row.idempotencyKey ? { 'Idempotency-Key': z.string().optional() } : {}),
    ...(row === ENDPOINTS.events.events ? { 'Last-Event-ID': z.string().optional() } : {}),
  });
  return Object.keys(header.shape).length === 0 ? {} : { header };
}

function errorsOf(row: Endpoint) {
  const errors = {
    ...(row.scope === 'public'
      ? {}
      : { 401: 'Unauthorized: missing or invalid token', 403: `Forbidden: token lacks '${row.scope}' scope` }),
    ...(row.idempotencyKey ? { 409: 'This idempotency key was used with other fields' } : {}),
    ...(hasBody(row.verb) ? { 413: 'Request body too large' } : {}),
    ...row.errors,
  };
  return mapValues(errors, (description) => ({ description, ...json(ErrorReply) }));
}

const asObject = (value: unknown): Record<string, unknown> => ({ ...(value as object) });

const mapValues = <T, U>(object: Record<string, T>, convert: (value: T, key: string) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, convert(value, key)]));
