import { z } from 'zod';
import { TEMPLATE_NUMBERS } from '../methods/templates/wstemplate.ts';
import { endpoint } from './endpoint.ts';

const WsTemplate = z.object({
  ws_template_id: z.string(),
  name: z.string(),
  description: z.string(),
  system_prompt: z.string(),
  prompt_template: z.string(),
  prompt_template_hash: z.string(),
  model: z.string(),
  auto_approve: z.boolean(),
  /** Comma-separated. */
  auto_approve_tools: z.string(),
  temperature: z.number().nullable(),
  reasoning_effort: z.string(),
  max_tokens: z.number().nullable(),
  /** 0: none. */
  token_budget: z.number(),
  agent_max_turns: z.number().nullable(),
  /** JSON text. */
  notify_on_complete: z.string(),
  org_id: z.string(),
  created_by: z.string(),
  enabled: z.boolean(),
  version: z.number(),
  created: z.string(),
  updated: z.string(),
});

const NUMBERS = {
  temperature: TEMPLATE_NUMBERS.temperature,
  max_tokens: TEMPLATE_NUMBERS.maxTokens,
  token_budget: TEMPLATE_NUMBERS.tokenBudget,
  agent_max_turns: TEMPLATE_NUMBERS.agentMaxTurns,
} as const;
type NumericField = keyof typeof NUMBERS;

/** A number, its text, or null or an empty text for none. Undefined: invalid, or absent. */
export function toNumber(value: unknown): number | null | undefined {
  if (value === null || value === '') return null;
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

const numericFields = Object.keys(NUMBERS).filter((name): name is NumericField => Object.hasOwn(NUMBERS, name));

const isValid = (field: NumericField, value: unknown): boolean =>
  value === undefined || toNumber(value) === null || NUMBERS[field].safeParse(toNumber(value)).success;

const numeric = z.unknown().optional();
const fields = {
  name: z.string().optional(),
  description: z.string().optional(),
  system_prompt: z.string().optional(),
  prompt_template: z.string().nullish(),
  model: z.string().nullish(),
  auto_approve: z.boolean().optional(),
  auto_approve_tools: z.string().optional(),
  temperature: numeric,
  reasoning_effort: z.enum(['', 'low', 'medium', 'high'], { error: 'must be low, medium or high' }).nullish(),
  max_tokens: numeric,
  token_budget: numeric,
  agent_max_turns: numeric,
  /** JSON, or its text. */
  notify_on_complete: z.union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())]).optional(),
  enabled: z.boolean().optional(),
};

/** Names the first numeric field that is no number, or out of its range. */
function checkNumbers(
  request: { readonly [K in NumericField]?: unknown },
  { addIssue }: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  const wrong = numericFields.find((field) => !isValid(field, request[field]));
  if (wrong) addIssue({ code: 'custom', path: [], message: `Invalid numeric field: ${wrong}` });
}

const ById = z.object({ ws_template_id: z.string() });
const MISSING = { 404: 'Not found' } as const;
const INVALID = {
  400: 'name is required, Prompt template not found: x, or Invalid numeric field: x',
  409: 'Name already exists',
} as const;

/** Workstream templates (HTTP.md, "Templates"). */
export const wstemplateEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/ws-templates',
    summary: 'The enabled workstream templates, in short.',
    scope: 'read',
    request: () => z.object({}),
    reply: () =>
      z.object({
        ws_templates: z.array(z.object({ name: z.string(), description: z.string(), model: z.string() })),
      }),
  }),
  details: endpoint({
    verb: 'get',
    path: '/v1/api/admin/ws-templates',
    summary: 'All workstream templates.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ ws_templates: z.array(WsTemplate) }),
  }),
  create: endpoint({
    verb: 'post',
    path: '/v1/api/admin/ws-templates',
    summary: 'Add a workstream template.',
    scope: 'approve',
    request: () => z.object(fields).superRefine(checkNumbers),
    reply: () => WsTemplate,
    errors: INVALID,
  }),
  get: endpoint({
    verb: 'get',
    path: '/v1/api/admin/ws-templates/{ws_template_id}',
    summary: 'One workstream template.',
    scope: 'approve',
    request: () => ById,
    reply: () => WsTemplate,
    errors: MISSING,
  }),
  update: endpoint({
    verb: 'put',
    path: '/v1/api/admin/ws-templates/{ws_template_id}',
    summary: 'Change a workstream template; the state before is kept as a version.',
    scope: 'approve',
    request: () => ById.extend(fields).superRefine(checkNumbers),
    reply: () => WsTemplate,
    errors: { ...INVALID, ...MISSING },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/ws-templates/{ws_template_id}',
    summary: 'Delete a workstream template with its versions.',
    scope: 'approve',
    request: () => ById,
    reply: () => z.object({ status: z.literal('ok') }),
    errors: MISSING,
  }),
  versions: endpoint({
    verb: 'get',
    path: '/v1/api/admin/ws-templates/{ws_template_id}/versions',
    summary: 'The states of a workstream template before its edits, newest first.',
    scope: 'approve',
    request: () => ById,
    reply: () =>
      z.object({
        versions: z.array(
          z.object({
            version: z.number(),
            /** JSON text of the template. */
            snapshot: z.string(),
            changed_by: z.string(),
            created: z.string(),
          }),
        ),
      }),
    errors: MISSING,
  }),
};
