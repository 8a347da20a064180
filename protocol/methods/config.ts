import { z } from 'zod';
import { always, contract } from '../contract.ts';
import { NonEmpty, optionalText } from '../frames.ts';

/** `path` is empty for the file as a whole. */
const ConfigIssue = z.strictObject({ path: z.string(), message: z.string() }).meta({ id: 'ConfigIssue' });
export type ConfigIssue = z.infer<typeof ConfigIssue>;

const Raw = z
  .string()
  .min(1)
  .max(512 * 1024);

const ConfigChange = {
  ok: z.literal(true),
  path: z.string(),
  /** With every default filled in; secrets masked. */
  config: z.unknown(),
  /** Keys of the file that are not settings and have no effect; usually empty. */
  issues: z.array(ConfigIssue),
  /** Only with `extended`: the changed keys that took effect, and those that need a restart. */
  applied: z.array(z.string()).optional(),
  restart: z.array(z.string()).optional(),
};

/** config.json, read and changed over the wire; secrets are masked. */
export const configContracts = {
  'config.get': contract({
    summary: 'The configuration file: its text, its settings and its problems. Secrets are masked.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'ConfigGetParams' }),
    result: () =>
      z
        .strictObject({
          path: z.string(),
          exists: z.boolean(),
          raw: z.string().nullable(),
          parsed: z.unknown(),
          valid: z.boolean(),
          config: z.unknown(),
          issues: z.array(ConfigIssue),
          /** SHA-256 of the file, for `baseHash`; of an empty text if the file does not exist. */
          hash: z.string(),
        })
        .meta({ id: 'ConfigGetResult' }),
  }),
  'config.set': contract({
    summary: 'Write the configuration file as given, if it is valid. A masked secret keeps its value.',
    scope: 'approve',
    permission: 'admin.settings',
    audit: { action: 'config.set' },
    stepUp: always,
    params: () =>
      z
        .strictObject({
          raw: Raw,
          /** If the file has changed since, the call is refused. */
          baseHash: optionalText(128),
          extended: z.boolean().optional(),
        })
        .meta({ id: 'ConfigSetParams' }),
    result: () => z.strictObject(ConfigChange).meta({ id: 'ConfigSetResult' }),
    serial: () => 'config',
  }),
  'config.patch': contract({
    summary:
      'Change parts of the configuration: a JSON merge patch (RFC 7386), null removes. Comments in the file are lost.',
    scope: 'approve',
    permission: 'admin.settings',
    audit: { action: 'config.patch' },
    stepUp: always,
    params: () =>
      z
        .strictObject({ raw: Raw, baseHash: NonEmpty.max(128), extended: z.boolean().optional() })
        .meta({ id: 'ConfigPatchParams' }),
    result: () => z.strictObject(ConfigChange).meta({ id: 'ConfigPatchResult' }),
    serial: () => 'config',
  }),
  'config.reload': contract({
    summary: 'Read the configuration file again, after it was edited by hand.',
    scope: 'approve',
    permission: 'admin.settings',
    audit: { action: 'config.reload' },
    stepUp: always,
    params: () => z.strictObject({}).meta({ id: 'ConfigReloadParams' }),
    result: () =>
      z
        .strictObject({
          /** `noop`: no setting changed that can take effect at once. */
          status: z.enum(['ok', 'noop']),
          /** The changed keys that took effect, and those that need a restart. */
          applied: z.array(z.string()),
          restart: z.array(z.string()),
        })
        .meta({ id: 'ConfigReloadResult' }),
    serial: () => 'config',
  }),
  'config.schema': contract({
    summary: 'The JSON Schema of the configuration file.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'ConfigSchemaParams' }),
    result: () =>
      z
        .strictObject({
          schema: z.record(z.string(), z.unknown()),
          /** Which keys hold secrets, and which need a restart. */
          uiHints: z.record(
            z.string(),
            z.strictObject({ sensitive: z.boolean().optional(), restart: z.boolean().optional() }),
          ),
          version: z.string(),
          generatedAt: z.string(),
        })
        .meta({ id: 'ConfigSchemaResult' }),
  }),
};
