import { fakeClock } from '../../../testing/fake-clock.ts';
import { sharedPostgres } from '../../../testing/postgres-server.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { storeContract } from '../store.contract.ts';
import { openPostgresStore } from './postgres-store.ts';

storeContract('postgres', async () => {
  const server = await sharedPostgres();
  return openPostgresStore({ url: await server.createDatabase(), clock: fakeClock(1_000), log: recordingLog() });
});
