import type { StandbyServer } from '../../http/standby/standby-server.ts';
import { closeServer } from '../../listen.ts';

/** Ends what it forwards, and closes its port. */
export async function endStandby({ server, forwarder }: StandbyServer): Promise<void> {
  forwarder.close();
  await closeServer(server);
}
