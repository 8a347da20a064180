import type { Command } from 'commander';
import type { Surroundings } from '../home/home-path.ts';
import type { RotateFlags, SecretsFlags } from './commands/secrets.ts';
import type { SettingFlags } from './commands/settings.ts';
import { refuseUnknown } from './default-command.ts';

interface SettingsCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate settings`, for single values of config.json. */
export function addSettingsCommands(program: Command, { root, around, withTarget }: SettingsCommandsDeps): void {
  const settings = program.command('settings').description('show and change the settings of config.json');
  const load = () => import('./commands/settings.ts');
  const on = (flags: SettingFlags) => ({ flags, around, root });
  refuseUnknown(settings, withTarget(settings.command('list', { isDefault: true })))
    .description('list the settings with their values (the default command)')
    .option('--search <text>', 'only those with all these words in their name or description')
    .option('--json', 'print JSON')
    .action(async (flags: SettingFlags) => (await load()).listSettings(on(flags)));
  withTarget(settings.command('get'))
    .description('print the value of a setting; what is known about it goes to stderr')
    .argument('<key>', 'name of the setting, such as tools.timeout')
    .option('--json', 'print the setting with its default and its range as JSON')
    .action(async (key: string, flags: SettingFlags) => (await load()).getSetting(key, on(flags)));
  withTarget(settings.command('set'))
    .description('store a value in config.json; comments in the file are lost')
    .argument('<key>', 'name of the setting')
    .argument('<value>', 'the value; a list with commas, an object as JSON')
    .action(async (key: string, value: string, flags: SettingFlags) =>
      (await load()).setSetting(key, value, on(flags)),
    );
  withTarget(settings.command('unset'))
    .description('remove a value from config.json, so that the default applies')
    .argument('<key>', 'name of the setting')
    .action(async (key: string, flags: SettingFlags) => (await load()).unsetSetting(key, on(flags)));
}

/** Adds `headgate secrets`, for the keys that encrypt the secrets of the daemon. */
export function addSecretsCommands(program: Command, { root, around, withTarget }: SettingsCommandsDeps): void {
  const secrets = program
    .command('secrets')
    .description('show and replace the keys that encrypt the secrets of the daemon');
  const load = () => import('./commands/secrets.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(secrets, withTarget(secrets.command('status', { isDefault: true })))
    .description('show which keys are in use (the default command); never shows a key or a secret')
    .option('--json', 'print one JSON object')
    .action(async (flags: SecretsFlags) => (await load()).showSecrets(on(flags)));
  withTarget(secrets.command('rotate'))
    .description(
      'encrypt the secrets with new keys, while the daemon runs; earlier backups need their own headgate-key',
    )
    .option('--logins', 'also replace the secret that signs logins; the next start ends all logins')
    .option('--json', 'print one JSON object')
    .action(async (flags: RotateFlags) => (await load()).rotateSecrets(on(flags)));
}
