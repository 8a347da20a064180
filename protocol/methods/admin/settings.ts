import { z } from 'zod';
import { always, contract } from '../../contract.ts';
import { NonEmpty } from '../../frames.ts';

const described = {
  /** The name of the specification where it has one, otherwise that of config.json. */
  key: z.string(),
  type: z.enum(['str', 'int', 'float', 'bool', 'list', 'object']),
  description: z.string(),
  section: z.string(),
  /** The value is never shown, and changes only in the file. */
  isSecret: z.boolean(),
  /** A change takes effect at the next start. */
  restartRequired: z.boolean(),
};

/** A setting of config.json with its value. */
export const Setting = z
  .strictObject({
    ...described,
    /** Null without a value; `***` for a secret. */
    value: z.unknown(),
    /** Where the value comes from; `storage` is config.json. */
    source: z.enum(['default', 'storage', 'environment', 'flag']),
    /** Who set the stored value with `settings.set`; empty if it was changed in another way. */
    changedBy: z.string(),
    updatedAtMs: z.int().min(0).optional(),
  })
  .meta({ id: 'Setting' });
export type Setting = z.infer<typeof Setting>;

/** Which values a setting may have. */
export const SettingDefinition = z
  .strictObject({
    ...described,
    /** Its place in config.json, with dots. */
    configKey: z.string(),
    /** False: it is changed only in config.json itself, as secrets are. */
    settable: z.boolean(),
    /** Null without a default. */
    default: z.unknown(),
    minValue: z.number().optional(),
    maxValue: z.number().optional(),
    choices: z.array(z.string()).optional(),
  })
  .meta({ id: 'SettingDefinition' });
export type SettingDefinition = z.infer<typeof SettingDefinition>;

const Key = NonEmpty.max(256);

/** The settings of config.json, one by one. */
export const settingsContracts = {
  'settings.list': contract({
    summary: 'Every setting with its value and where the value comes from. Secrets are masked.',
    scope: 'approve',
    permission: 'admin.settings',
    params: () => z.strictObject({}).meta({ id: 'SettingsListParams' }),
    result: () => z.strictObject({ settings: z.array(Setting) }).meta({ id: 'SettingsListResult' }),
  }),
  'settings.schema': contract({
    summary: 'Every setting with its type, default and range.',
    scope: 'approve',
    permission: 'admin.settings',
    params: () => z.strictObject({}).meta({ id: 'SettingsSchemaParams' }),
    result: () => z.strictObject({ schema: z.array(SettingDefinition) }).meta({ id: 'SettingsSchemaResult' }),
  }),
  'settings.set': contract({
    summary: 'Write one setting to config.json. Comments in the file are lost.',
    scope: 'approve',
    permission: 'admin.settings',
    audit: { action: 'setting.update', id: 'key' },
    stepUp: always,
    params: () => z.strictObject({ key: Key, value: z.unknown().optional() }).meta({ id: 'SettingsSetParams' }),
    result: () => Setting,
    serial: () => 'config',
  }),
  'settings.reset': contract({
    summary: 'Remove one setting from config.json, so that its default applies. Comments in the file are lost.',
    scope: 'approve',
    permission: 'admin.settings',
    audit: { action: 'setting.delete', id: 'key' },
    stepUp: always,
    params: () => z.strictObject({ key: Key }).meta({ id: 'SettingsResetParams' }),
    result: () => z.strictObject({ key: z.string(), default: z.unknown() }).meta({ id: 'SettingsResetResult' }),
    serial: () => 'config',
  }),
};
