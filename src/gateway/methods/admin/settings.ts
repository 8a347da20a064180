import type { settingsContracts } from '../../../../protocol/methods/admin/settings.ts';
import type { Handlers } from '../../call.ts';
import type { DaemonSettings } from '../../configuration/daemon-settings.ts';
import type { Store } from '../../store/store.ts';
import type { ConfigMethodDeps } from '../config.ts';
import { takeEffect } from '../config.ts';

interface SettingsMethodDeps extends Pick<ConfigMethodDeps, 'affected'> {
  settings: DaemonSettings;
  store: Pick<Store, 'commit'>;
  users: { find(userId: string): { username: string } | undefined };
}

export const settingsMethods = ({
  settings,
  store,
  affected,
  users,
}: SettingsMethodDeps): Handlers<keyof typeof settingsContracts> => ({
  'settings.list': async () => ({ settings: await settings.list() }),
  'settings.schema': () => ({ schema: settings.schema() }),
  'settings.set': async ({ key, value }, call) => {
    const userId = call.principal?.userId ?? call.principal?.id ?? '';
    const by = users.find(userId)?.username ?? userId; // as the audit trail has it, from which the list takes it
    const { result, applied, recorded } = await settings.set(key, value, by);
    await takeEffect(applied, affected);
    // The file cannot be part of a transaction, so the record follows it.
    await store.commit({ statements: call.audited({ id: result.key, ...recorded }) });
    return result;
  },
  'settings.reset': async ({ key }, call) => {
    const { result, applied } = await settings.reset(key);
    await takeEffect(applied, affected);
    await store.commit({ statements: call.audited({ id: result.key }) });
    return result;
  },
});
