import { z } from 'zod';
import type { Contract } from '../contract.ts';
import { GATEWAY_EVENTS, type GatewayEventRow } from '../events/gateway.ts';
import { CONTRACTS } from '../index.ts';
import { LIMITS } from '../limits.ts';
import { schemasByPlace, tidy } from './documents.ts';

/** The WebSocket protocol as AsyncAPI 3, seen from the gateway: committed as protocol/generated/asyncapi.json. */
export function asyncApiDocument(version: string) {
  const converted = z.toJSONSchema(z.object(schemasByPlace()), { io: 'input', target: 'draft-07', override: tidy });
  const { definitions = {}, properties = {} } = withReferencesTo('#/components/schemas/', converted);
  const methods = Object.entries<Contract>(CONTRACTS);
  const events = Object.entries<GatewayEventRow>(GATEWAY_EVENTS);
  const messages = {
    ...Object.fromEntries(methods.flatMap(([name, row]) => messagesOfMethod(name, { row, schemas: properties }))),
    ...Object.fromEntries(
      events.map(([name, { summary }]) => [`${name}.event`, eventMessage(name, summary, properties)]),
    ),
    error: ERROR_MESSAGE,
  };
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Headgate gateway protocol',
      version,
      license: { name: 'Apache-2.0' },
      description: `Protocol version ${LIMITS.protocolVersion}: JSON frames over one WebSocket. PROTOCOL.md describes it in full.`,
    },
    defaultContentType: 'application/json',
    servers: { local: { host: `127.0.0.1:${LIMITS.defaultPort}`, protocol: 'ws' } },
    channels: {
      gateway: {
        address: '/v1/ws',
        description: 'Any number of calls and events, after a first call of `connect`.',
        messages: mapKeys(messages, (name) => ({ $ref: `#/components/messages/${name}` })),
      },
    },
    operations: {
      ...Object.fromEntries(methods.map(([name, row]) => [name, methodOperation(name, row)])),
      ...Object.fromEntries(
        events.map(([name, row]) => [
          `on.${name}`,
          { action: 'send', channel: CHANNEL, summary: row.summary, messages: [inChannel(`${name}.event`)] },
        ]),
      ),
    },
    components: { messages, schemas: definitions },
  };
}

const CHANNEL = { $ref: '#/channels/gateway' };
const inChannel = (message: string) => ({ $ref: `#/channels/gateway/messages/${message}` });

const answersOf = (name: string, { interim }: Contract) =>
  [`${name}.result`, ...(interim === undefined ? [] : [`${name}.interim`]), 'error'].map(inChannel);

const methodOperation = (name: string, row: Contract) => ({
  action: 'receive',
  channel: CHANNEL,
  summary: row.summary,
  description: `Scope: ${row.scope}.${row.idempotency === undefined ? '' : ` Idempotency key: ${row.idempotency}.`}`,
  messages: [inChannel(`${name}.request`)],
  reply: { channel: CHANNEL, messages: answersOf(name, row) },
});

type Schemas = Record<string, unknown>;

function messagesOfMethod(name: string, { row, schemas }: { row: Contract; schemas: Schemas }): [string, object][] {
  const answer = (kind: 'result' | 'interim'): [string, object] => [
    `${name}.${kind}`,
    message(`${name}: ${kind}`, {
      type: { const: 'res' },
      id: ID,
      ok: { const: true },
      payload: schemas[`${name} ${kind}`],
    }),
  ];
  const params = { type: { const: 'req' }, id: ID, method: { const: name }, params: schemas[`${name} params`] };
  return [
    [`${name}.request`, { ...message(row.summary, params, ['params']), correlationId: CORRELATION }],
    answer('result'),
    ...(row.interim === undefined ? [] : [answer('interim')]),
  ];
}

const eventMessage = (name: string, summary: string, schemas: Schemas) =>
  message(
    summary,
    {
      type: { const: 'event' },
      event: { const: name },
      payload: schemas[`${name} payload`],
      seq: { type: 'integer', minimum: 0 },
      stateVersion: { $ref: '#/components/schemas/StateVersion' },
    },
    ['seq', 'stateVersion'],
  );

const ID = { type: 'string', minLength: 1 };
const CORRELATION = { location: '$message.payload#/id', description: 'Repeated in the answers.' };

/** A message whose payload is one frame. All properties except `optional` are required. */
function message(summary: string, frame: Record<string, unknown>, optional: readonly string[] = []) {
  const required = Object.keys(frame).filter((name) => !optional.includes(name));
  return { summary, payload: { type: 'object', properties: frame, required, additionalProperties: false } };
}

const ERROR_MESSAGE = message(
  'A call was refused or failed.',
  {
    type: { const: 'res' },
    id: ID,
    ok: { const: false },
    error: { $ref: '#/components/schemas/ErrorShape' },
    payload: { description: 'A result in addition to the error, as after a failed run.' },
  },
  ['payload'],
);

/** The document with its references to `#/definitions/` replaced by references to `place`. */
function withReferencesTo(place: string, document: z.core.JSONSchema.BaseSchema): z.core.JSONSchema.BaseSchema {
  return JSON.parse(JSON.stringify(document), (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/definitions/', place) : value,
  );
}

const mapKeys = <T>(object: object, convert: (key: string) => T): Record<string, T> =>
  Object.fromEntries(Object.keys(object).map((key) => [key, convert(key)]));
