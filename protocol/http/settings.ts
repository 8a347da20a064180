import { z } from 'zod';
import { endpoint } from './endpoint.ts';

const described = {
  key: z.string(),
  type: z.string(),
  description: z.string(),
  section: z.string(),
  is_secret: z.boolean(),
  restart_required: z.boolean(),
};

const Setting = z.object({
  ...described,
  value: z.unknown(),
  /** `default`, `storage` (config.json), `environment` or `flag`. */
  source: z.string(),
  /** Always empty: settings apply to this daemon. */
  node_id: z.string(),
  changed_by: z.string(),
  updated: z.string(),
});

const Definition = z.object({
  ...described,
  /** Its place in config.json, with dots. */
  config_key: z.string(),
  /** False: it is changed only in config.json itself. */
  settable: z.boolean(),
  default: z.unknown(),
  min_value: z.number().nullable(),
  max_value: z.number().nullable(),
  choices: z.array(z.string()).nullable(),
  help: z.string(),
  reference_url: z.string(),
});

/** The settings of config.json (HTTP.md, "Settings"). */
export const settingsEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/admin/settings',
    summary: 'Every setting with its value and where the value comes from.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ settings: z.array(Setting) }),
  }),
  schema: endpoint({
    verb: 'get',
    path: '/v1/api/admin/settings/schema',
    summary: 'Every setting with its type, default and range.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ schema: z.array(Definition) }),
  }),
  set: endpoint({
    verb: 'put',
    path: '/v1/api/admin/settings/{key}',
    summary: 'Write one setting to config.json.',
    scope: 'approve',
    request: () => z.object({ key: z.string(), value: z.unknown().optional() }),
    reply: () => Setting,
    errors: {
      400: 'value is required',
      403: 'Secret settings cannot be modified via API — use config.json or environment variables',
    },
  }),
  reset: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/settings/{key}',
    summary: 'Remove one setting from config.json, so that its default applies.',
    scope: 'approve',
    request: () => z.object({ key: z.string() }),
    reply: () => z.object({ status: z.literal('ok'), key: z.string(), default: z.unknown() }),
    errors: { 404: "Setting 'x' not found in storage" },
  }),
  reload: endpoint({
    verb: 'post',
    path: '/v1/api/_internal/config-reload',
    summary: 'Read config.json again after it was edited by hand.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ status: z.enum(['ok', 'noop']) }),
  }),
};
