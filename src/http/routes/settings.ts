import { settingsEndpoints } from '../../../protocol/http/settings.ts';
import type { Setting, SettingDefinition } from '../../../protocol/methods/admin/settings.ts';
import { bind } from '../bind.ts';
import { isoOrEmpty } from '../iso.ts';

const toSetting = ({ isSecret, restartRequired, changedBy, updatedAtMs, ...rest }: Setting) => ({
  ...rest,
  is_secret: isSecret,
  node_id: '',
  changed_by: changedBy,
  updated: isoOrEmpty(updatedAtMs),
  restart_required: restartRequired,
});

const toDefinition = ({
  isSecret,
  restartRequired,
  minValue,
  maxValue,
  choices,
  configKey,
  ...rest
}: SettingDefinition) => ({
  ...rest,
  config_key: configKey,
  is_secret: isSecret,
  min_value: minValue ?? null,
  max_value: maxValue ?? null,
  choices: choices ?? null,
  help: '',
  reference_url: '',
  restart_required: restartRequired,
});

export const settingsRoutes = [
  bind(settingsEndpoints.list, 'settings.list', {
    params: () => ({}),
    reply: ({ settings }) => ({ settings: settings.map(toSetting) }),
  }),
  bind(settingsEndpoints.schema, 'settings.schema', {
    params: () => ({}),
    reply: ({ schema }) => ({ schema: schema.map(toDefinition) }),
  }),
  bind(settingsEndpoints.set, 'settings.set', { params: ({ key, value }) => ({ key, value }), reply: toSetting }),
  bind(settingsEndpoints.reset, 'settings.reset', {
    params: ({ key }) => ({ key }),
    reply: ({ key, default: usual }) => ({ status: 'ok' as const, key, default: usual }),
  }),
  bind(settingsEndpoints.reload, 'config.reload', { params: () => ({}), reply: ({ status }) => ({ status }) }),
];
