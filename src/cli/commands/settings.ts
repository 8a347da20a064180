import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Setting, SettingDefinition } from '../../../protocol/methods/admin/settings.ts';
import { rangeOf, toSettingInput, toSettingText } from '../../../protocol/text/setting-text.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { NotFoundError } from '../../start-error.ts';
import { readVersion } from '../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../connect.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import { toTextTable } from '../text-table.ts';

export interface SettingFlags extends TargetFlags {
  json?: boolean;
  search?: string;
}

interface SettingsCommand {
  flags: SettingFlags;
  around: Surroundings;
  root: URL;
}

const MOST_SHOWN = 60;

/** Lists the settings whose name or description has every word of the search. */
export async function listSettings(command: SettingsCommand): Promise<void> {
  const settings = await ask(command, async (client) => (await client.call('settings.list', {})).settings);
  const words = (command.flags.search ?? '').toLowerCase().split(/\s+/);
  const found = settings.filter(({ key, description }) =>
    words.every((word) => `${key} ${description}`.toLowerCase().includes(word)),
  );
  if (command.flags.json) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  else if (found.length === 0) process.stderr.write('No setting matches.\n');
  else
    process.stdout.write(
      toTextTable([
        ['KEY', 'VALUE', 'FROM'],
        ...found.map(({ key, value, source }) => [key, toLine(value), SOURCES[source]]),
      ]),
    );
}

/** Prints the value alone on stdout, and what is known about the setting on stderr. */
export async function getSetting(which: string, command: SettingsCommand): Promise<void> {
  const { setting, definition } = await ask(command, (client) => settingNamed(which, client));
  if (command.flags.json) {
    process.stdout.write(`${JSON.stringify({ ...definition, ...setting }, null, 2)}\n`);
    return;
  }
  process.stderr.write(`${setting.description}\n${factsOf(setting, definition).join('; ')}\n`);
  process.stdout.write(`${toSafeText(toSettingText(setting.value))}\n`);
}

export async function setSetting(which: string, text: string, command: SettingsCommand): Promise<void> {
  await ask(command, async (client) => {
    const { definition } = await settingNamed(which, client);
    const { key } = definition;
    const { source } = await client.call('settings.set', { key, value: toSettingInput(definition, text) });
    process.stderr.write(`${key} is stored in config.json${effectOf(source, definition)}\n`);
  });
}

export async function unsetSetting(which: string, command: SettingsCommand): Promise<void> {
  await ask(command, async (client) => {
    const { setting, definition } = await settingNamed(which, client);
    const { key, default: usual } = await client.call('settings.reset', { key: definition.key });
    const source = setting.source === 'storage' ? 'default' : setting.source;
    const value = toLine(usual) === '' ? 'It has no default' : `Its default is ${toLine(usual)}`;
    process.stderr.write(`${key} is removed from config.json${effectOf(source, definition)} ${value}.\n`);
  });
}

const SOURCES: Record<Setting['source'], string> = {
  default: 'default',
  storage: 'config.json',
  environment: 'environment',
  flag: 'flag',
};

/** When the change takes effect, as the end of a sentence. */
function effectOf(source: Setting['source'], { restartRequired }: SettingDefinition): string {
  if (source === 'flag') return ', but a flag of the running daemon replaces it.';
  if (source === 'environment') return ', but an environment variable of the running daemon replaces it.';
  return restartRequired ? ' and takes effect at the next start of Headgate.' : ' and in effect.';
}

function factsOf({ source }: Setting, definition: SettingDefinition): string[] {
  const { default: usual, choices, restartRequired, isSecret, settable } = definition;
  const range = rangeOf(definition);
  return [
    `from: ${SOURCES[source]}`,
    ...(isSecret ? ['a secret, which is changed in config.json only'] : [`default: ${toLine(usual) || 'none'}`]),
    ...(isSecret || settable ? [] : ['changed in config.json only']),
    ...(range === undefined ? [] : [range]),
    ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
    ...(restartRequired ? ['takes effect at the next start'] : []),
  ];
}

function toLine(value: unknown): string {
  const line = toSafeText(toSettingText(value)).replaceAll(/\s+/g, ' ');
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN - 1)}…` : line;
}

/** By its name in the specification or in config.json; of an unknown one, says which are similar. */
async function settingNamed(which: string, client: GatewayClient) {
  const [{ settings }, { schema }] = await Promise.all([
    client.call('settings.list', {}),
    client.call('settings.schema', {}),
  ]);
  const definition = schema.find(({ key, configKey }) => key === which || configKey === which);
  const setting = settings.find(({ key }) => key === definition?.key);
  if (setting !== undefined && definition !== undefined) return { setting, definition };
  const last = which.split('.').at(-1)?.toLowerCase() ?? '';
  const similar = settings.filter(({ key }) => last !== '' && key.toLowerCase().includes(last)).slice(0, 5);
  const hint =
    similar.length > 0
      ? `Similar: ${similar.map(({ key }) => key).join(', ')}`
      : 'List them with: headgate settings list';
  throw new NotFoundError(`Unknown setting "${which}". ${hint}`);
}

async function ask<T>(
  { flags, around, root }: SettingsCommand,
  use: (client: GatewayClient) => Promise<T>,
): Promise<T> {
  const target = await resolveTarget(flags, around);
  return withClient({ target, version: await readVersion(root) }, use);
}
