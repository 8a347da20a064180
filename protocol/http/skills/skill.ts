import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const ScanReport = z.object({
  tier: z.string(),
  composite: z.number(),
  content_risk: z.number(),
  supply_risk: z.number(),
  vuln_risk: z.number(),
  capability_risk: z.number(),
  flags: z.array(z.string()),
  details: z.object({
    content: z.array(z.string()),
    supply_chain: z.array(z.string()),
    vulnerability: z.array(z.string()),
    capability: z.array(z.string()),
  }),
  scanner_version: z.string(),
});

/** A skill as the endpoints of administrators show it. */
export const HttpSkill = z.object({
  /** The id of a skill has this name, as templates had it before. */
  template_id: z.string(),
  skill_id: z.string(),
  name: z.string(),
  category: z.string(),
  content: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  /** JSON text of an array. */
  variables: z.string(),
  is_default: z.boolean(),
  activation: z.string(),
  kind: z.string(),
  org_id: z.string(),
  created_by: z.string(),
  origin: z.string(),
  mcp_server: z.string(),
  readonly: z.boolean(),
  source_url: z.string(),
  /** SHA-256 in hex of what was installed. */
  digest: z.string(),
  version: z.string(),
  author: z.string(),
  token_estimate: z.number(),
  model: z.string(),
  auto_approve: z.boolean(),
  temperature: z.number().nullable(),
  reasoning_effort: z.string(),
  max_tokens: z.number().nullable(),
  /** 0: none. */
  token_budget: z.number(),
  agent_max_turns: z.number().nullable(),
  /** JSON text. */
  notify_on_complete: z.string(),
  enabled: z.boolean(),
  priority: z.number(),
  /** JSON text of an array: tools that run unasked. */
  allowed_tools: z.string(),
  /** JSON text of an array: tools that the author of an installed skill wants. */
  wanted_tools: z.string(),
  license: z.string(),
  compatibility: z.string(),
  scan_status: z.string(),
  risk_level: z.string(),
  scan_report: ScanReport,
  scan_version: z.string(),
  resource_count: z.number(),
  /** Files of an installed skill that were not stored: the first 50, and how many. */
  left_out: z
    .object({ count: z.number(), files: z.array(z.object({ path: z.string(), reason: z.string() })) })
    .optional(),
  created: z.string(),
  updated: z.string(),
});

const number = z.number().nullish();
const fields = {
  name: z.string().optional(),
  category: z.string().optional(),
  content: z.string().optional(),
  description: z.string().optional(),
  /** A list, or a text with commas. */
  tags: z.union([z.array(z.string()), z.string()]).optional(),
  /** A JSON array, or its text. */
  variables: z.union([z.string(), z.array(z.unknown())]).optional(),
  is_default: z.boolean().optional(),
  activation: z.string().optional(),
  kind: z.string().optional(),
  author: z.string().optional(),
  version: z.union([z.string(), z.number()]).optional(),
  license: z.string().optional(),
  compatibility: z.string().optional(),
  model: z.string().nullish(),
  auto_approve: z.boolean().optional(),
  /** A list of names, or its JSON text, or a text with commas. */
  allowed_tools: z.union([z.array(z.string()), z.string()]).optional(),
  temperature: number,
  reasoning_effort: z.enum(['', 'low', 'medium', 'high'], { error: 'must be low, medium or high' }).nullish(),
  max_tokens: number,
  token_budget: number,
  agent_max_turns: number,
  /** JSON, or its text. */
  notify_on_complete: z.union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())]).optional(),
  enabled: z.boolean().optional(),
  priority: z.number().optional(),
};

const ById = z.object({ skill_id: z.string() });
const MISSING = { 404: 'Skill not found' } as const;
const INVALID = {
  400: 'name is required, content is required, description is required, temperature must be between 0 and 2, or another field is wrong',
  409: 'Skill name already exists',
} as const;

/** Skills (HTTP.md, "Skills"). */
export const skillEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/skills',
    summary: 'The enabled skills, the prompt templates and the enabled workstream templates.',
    scope: 'read',
    request: () => z.object({}),
    reply: () =>
      z.object({
        skills: z.array(
          z.object({
            name: z.string(),
            category: z.string(),
            description: z.string(),
            tags: z.array(z.string()),
            is_default: z.boolean(),
            activation: z.string(),
            origin: z.string(),
            author: z.string(),
            version: z.string(),
          }),
        ),
      }),
  }),
  available: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/skills',
    summary: 'The skills of a workstream, also those in folders.',
    scope: 'read',
    request: () => z.object({ ws_id: z.string() }),
    reply: () =>
      z.object({
        skills: z.array(
          z.object({
            name: z.string(),
            description: z.string(),
            origin: z.string(),
            applied: z.boolean(),
            offered: z.boolean(),
            scan_status: z.string().optional(),
            folder: z.string().optional(),
          }),
        ),
        waiting: z.array(z.object({ name: z.string(), folder: z.string() })),
        odd: z.array(z.object({ file: z.string(), why: z.string() })),
      }),
    errors: { 404: 'Unknown workstream' },
  }),
  details: endpoint({
    verb: 'get',
    path: '/v1/api/admin/skills',
    summary: 'All stored skills.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ skills: z.array(HttpSkill), total: z.number() }),
  }),
  create: endpoint({
    verb: 'post',
    path: '/v1/api/admin/skills',
    summary: 'Add a skill.',
    scope: 'approve',
    request: () => z.object(fields),
    reply: () => HttpSkill,
    errors: INVALID,
  }),
  get: endpoint({
    verb: 'get',
    path: '/v1/api/admin/skills/{skill_id}',
    summary: 'One skill.',
    scope: 'approve',
    request: () => ById,
    reply: () => HttpSkill,
    errors: MISSING,
  }),
  update: endpoint({
    verb: 'put',
    path: '/v1/api/admin/skills/{skill_id}',
    summary: 'Change a skill; the state before is kept as a version. Of an installed one only its settings.',
    scope: 'approve',
    request: () => ById.extend(fields),
    reply: () => HttpSkill,
    errors: { ...INVALID, ...MISSING },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/skills/{skill_id}',
    summary: 'Delete a skill with its versions and resources.',
    scope: 'approve',
    request: () => ById,
    reply: () => z.object({ status: z.literal('ok') }),
    errors: MISSING,
  }),
  versions: endpoint({
    verb: 'get',
    path: '/v1/api/admin/skills/{skill_id}/versions',
    summary: 'The states of a skill before its edits, newest first.',
    scope: 'approve',
    request: () => ById,
    reply: () =>
      z.object({
        versions: z.array(
          z.object({
            id: z.string(),
            skill_id: z.string(),
            version: z.number(),
            /** JSON text of the skill. */
            snapshot: z.string(),
            changed_by: z.string(),
            created: z.string(),
          }),
        ),
      }),
    errors: MISSING,
  }),
  rescan: endpoint({
    verb: 'post',
    path: '/v1/api/admin/skills/{skill_id}/rescan',
    summary: 'Scan a skill again, with its resources.',
    scope: 'approve',
    request: () => ById,
    reply: () => z.object({ scan_status: z.string(), scan_report: ScanReport, scan_version: z.string() }),
    errors: MISSING,
  }),
};
