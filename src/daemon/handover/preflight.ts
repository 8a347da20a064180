import { existsSync } from 'node:fs';
import path from 'node:path';
import { chooseDefault } from '../../agent/providers/model-choice.ts';
import { plannedMigration } from '../../gateway/store/schema/migrations.ts';
import type { MigrationPlan } from '../../gateway/store/schema/schema-version.ts';
import { openReadingConnection } from '../../gateway/store/sqlite/sqlite-connection.ts';
import { resolveWorkdir } from '../../gateway/workstreams/workdir.ts';
import { readMachineKeys } from '../../home/machine-key.ts';
import { asStartError } from '../as-start-error.ts';
import type { DaemonOptions } from '../daemon-options.ts';
import { policyOf } from '../workdirs.ts';
import type { Checked } from './handover-messages.ts';

type Preflown = Pick<
  DaemonOptions,
  'home' | 'userHome' | 'uid' | 'workdir' | 'model' | 'config' | 'environment' | 'storeUrl'
>;

/**
 * Tries out what a start needs, as far as that is possible while another daemon uses the home. Changes nothing. Returns the
 * migration that the start will make. Throws StartError in the words of the start.
 */
export const checkBeforeStart = (options: Preflown): Promise<Checked['migration']> =>
  asStartError(async () => {
    const { home, userHome, uid, workdir, model, config, environment } = options;
    chooseDefault({ config, environment, localUrl: undefined, wanted: model });
    await resolveWorkdir(await policyOf({ home, userHome, uid }, workdir ?? config.workdir));
    const migration = await planOf(options);
    return migration.from === migration.to ? null : migration;
  });

async function planOf({ home, environment, storeUrl }: Preflown): Promise<MigrationPlan> {
  const keys = await readMachineKeys(home, environment);
  if (storeUrl !== undefined) {
    const { plannedPostgresMigration } = await import('../../gateway/loaded/loaded-services.ts');
    return plannedPostgresMigration(storeUrl);
  }
  const file = path.join(home, 'headgate.db');
  if (!existsSync(file)) throw new Error(`${file} is missing`);
  const connection = openReadingConnection(file);
  try {
    const plan = plannedMigration(connection, { path: file });
    const needed = neededKey(connection);
    if (needed === undefined || keys.some(({ id }) => id === needed)) return plan;
    throw new Error(`${file} needs the key ${needed}, which is not in ${home}`);
  } finally {
    connection.close();
  }
}

/** The key of the machine that encrypts the secrets; undefined before there are any. */
function neededKey(connection: ReturnType<typeof openReadingConnection>): string | undefined {
  const hasKeys = connection.all("select 1 from sqlite_schema where name = 'store_keys'").length > 0;
  const [row] = hasKeys ? connection.all('select machine_id from store_keys') : [];
  return row === undefined ? undefined : String(row.machine_id);
}
