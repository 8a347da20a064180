import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { Contract } from './contract.ts';
import { CONTRACTS } from './index.ts';

/** The specification requires that these are not empty if present. */
const NON_EMPTY = [
  ...['deviceFamily', 'modelIdentifier', 'instanceId'].map((field) => `connect client.${field}`),
  ...['displayName', 'platform', 'version', 'deviceFamily', 'modelIdentifier', 'remoteIp'].map(
    (field) => `node.pair.request ${field}`,
  ),
  ...['thinkingLevel', 'verboseLevel'].map((field) => `sessions.patch ${field}`),
];
/** A rule without the field would match more, so an empty one is refused. */
const NARROWING = ['rule.create match', 'rule.simulate add.match'].flatMap((place) =>
  ['command', 'host', 'node', 'nodeCommand', 'path', 'program', 'tool'].map((field) => `${place}.${field}`),
);
/** Here the empty string is a value, which removes the name, or belongs to the content of a conversation. */
const VALUES = [
  ...[
    'workstream.update name',
    'workstream.share userId',
    'workstream.saved userId', // the operator
    'workstream.find userId',
    'rule.create userId', // the operator
    'rule.simulate add.userId',
    'cron.update patch.name',
    'workstream.import conversation.files.base64',
  ],
  // The handler says which of them must not be empty; in a change, an empty one is no value.
  ...['create', 'update'].flatMap((call) =>
    [
      ...['name', 'description', 'scheduleType', 'cronExpr', 'timezone', 'atTime', 'targetMode', 'initialMessage'],
      ...['model', 'skill'],
    ].map((field) => `schedule.${call} ${field}`),
  ),
  ...['messages', 'agents.messages'].flatMap((place) =>
    ['reasoning', 'notice', 'notSandboxed'].map((field) => `workstream.import conversation.${place}.${field}`),
  ),
];
/** Here the empty string empties a field, or is refused like a missing one. */
const TEMPLATE_TEXTS = [
  ...['create', 'update'].flatMap((verb) =>
    ['name', 'content', 'category', 'variables'].map((field) => `template.${verb} ${field}`),
  ),
  'mcp.update name',
  ...['create', 'update'].flatMap((verb) =>
    ['name', 'toolPattern', 'action'].map((field) => `policy.${verb} ${field}`),
  ),
  ...['create', 'update'].flatMap((verb) =>
    [
      ...['name', 'description', 'systemPrompt', 'promptTemplate', 'model'],
      ...['autoApproveTools', 'notifyOnComplete'],
    ].map((field) => `wstemplate.${verb} ${field}`),
  ),
];
/** As those of templates. */
const SKILL_TEXTS = [
  ...['create', 'update'].flatMap((verb) =>
    [
      ...['name', 'category', 'content', 'description', 'variables', 'activation', 'kind', 'author', 'version'],
      ...['license', 'compatibility', 'model', 'notifyOnComplete'],
    ].map((field) => `skill.${verb} ${field}`),
  ),
  ...['source', 'sourceSkillId', 'url', 'digest'].map((field) => `skill.install ${field}`),
  ...['path', 'content', 'contentType'].map((field) => `skill.resource.create ${field}`),
];
/** Here the handler treats an empty string like a missing one. */
const SAME = ['cron.add name'];

interface Field {
  place: string;
  schema: z.ZodType;
}

/** The optional strings of a row's params, at any depth. */
function* optionalStrings(schema: z.core.$ZodType, place: string): Generator<Field> {
  if (schema instanceof z.ZodObject) yield* inObject(schema, place);
  for (const inner of partsOf(schema)) yield* optionalStrings(inner, place);
}

function* inObject({ shape }: z.ZodObject, place: string): Generator<Field> {
  for (const [name, field] of Object.entries<z.ZodType>(shape)) {
    const at = place.endsWith(' ') ? place + name : `${place}.${name}`;
    if (isOptionalString(field)) yield { place: at, schema: field };
    else yield* optionalStrings(field, at);
  }
}

function partsOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return schema.options;
  if (schema instanceof z.ZodArray) return [schema.element];
  if (schema instanceof z.ZodPipe) return [schema.in];
  const wraps = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return wraps ? [schema.unwrap()] : [];
}

const isOptionalString = (schema: z.ZodType): boolean =>
  !(schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodUnknown) &&
  schema.safeParse(undefined).success &&
  schema.safeParse('x').data === 'x';

const fields = Object.entries<Contract>(CONTRACTS).flatMap(([method, { params }]) => [
  ...optionalStrings(params(), `${method} `),
]);

test('an empty optional string of any method counts as absent, except where it is a value or the specification forbids it', () => {
  const places = new Set(fields.map(({ place }) => place));
  assert.ok(places.has('agent thinking') && places.has('cron.update patch.payload.to'), 'deep ones are found too');
  assert.deepEqual(
    [...NON_EMPTY, ...NARROWING, ...VALUES, ...TEMPLATE_TEXTS, ...SKILL_TEXTS, ...SAME].filter(
      (place) => !places.has(place),
    ),
    [],
    'the exceptions exist',
  );
  const read = fields.map(({ place, schema }) => [place, schema.safeParse('')] as const);
  const refused = read.filter(([, { success }]) => !success).map(([place]) => place);
  const kept = read.filter(([, { data }]) => data !== undefined).map(([place]) => place);
  assert.deepEqual(
    [refused.sort(), kept.sort()],
    [[...NON_EMPTY, ...NARROWING].sort(), [...VALUES, ...TEMPLATE_TEXTS, ...SKILL_TEXTS, ...SAME].sort()],
  );
});

test('null and non-empty texts are kept', () => {
  const params = CONTRACTS['workstream.approve'].params();
  const given = { wsId: 'w', approved: true };
  assert.equal(params.parse({ ...given, feedback: null }).feedback, null);
  assert.equal(params.parse({ ...given, feedback: ' ' }).feedback, ' ');
  assert.equal(params.parse({ ...given, feedback: '' }).feedback, undefined);
});
