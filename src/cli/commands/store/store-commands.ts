import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { MigrateFlags } from './migrate.ts';

/** Adds `headgate store`, for the database in which everything is. */
export function addStoreCommands(program: Command, around: Surroundings): void {
  const store = program.command('store').description('move everything stored to another kind of database');
  store
    .command('migrate')
    .description(
      'copy the store of a stopped daemon from SQLite into PostgreSQL, or back; continues a copy that was stopped',
    )
    .requiredOption('--from <store>', 'sqlite (the file in the home folder), or the PostgreSQL database: see --to')
    .requiredOption(
      '--to <store>',
      'postgresql (the address in HEADGATE_STORE_URL, or store.url of config.json), an address, or sqlite; it must be empty',
    )
    .option('--home <folder>', 'home folder (HEADGATE_HOME; default ~/.headgate)')
    .option('--json', 'print one JSON object, with the digest of each table')
    .action(async (flags: MigrateFlags) => (await import('./migrate.ts')).migrate(flags, around));
}
