import type { Notice } from '../../protocol/notice.ts';
import type { Models } from '../agent/providers/model.ts';
import type { ProcessIdentity } from '../agent/tools/tool.ts';
import type { Toolbox } from '../agent/tools/toolbox.ts';
import type { Clock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import type { Log } from '../log.ts';
import type { LogRing } from '../log-ring.ts';
import type { AttachmentFiles } from './attachments/attachment-files.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { ClientAddress } from './auth/client-address.ts';
import type { OriginPolicy } from './auth/origin-policy.ts';
import type { WebhookDeps } from './channels/webhook.ts';
import type { LiveSettings } from './live-settings.ts';
import type { AuthMethodDeps } from './methods/auth.ts';
import type { ConfigFile } from './methods/config.ts';
import type { OutputMethodDeps } from './methods/output.ts';
import type { TokenMethodDeps } from './methods/token.ts';
import type { Nodes } from './nodes/nodes.ts';
import type { Store } from './store/store.ts';
import type { Workdirs } from './workstreams/workdirs.ts';

/** All that the gateway is given: what is stored, asked and run, and what surrounds it. */
export interface GatewayDeps {
  store: Store;
  /** For people who ask where sessions are kept. */
  storePath: string;
  lastAliveMs: number | undefined;
  /** What a person should know of this start: files that were damaged. */
  startNotices: readonly Notice[];
  models: Models;
  nodes: Nodes;
  toolbox: Toolbox;
  notSandboxed: string | undefined;
  killLeftover(process: ProcessIdentity): Promise<unknown>;
  workdirs: Workdirs;
  readOutput: OutputMethodDeps['readOutput'];
  attachmentFiles: AttachmentFiles;
  webhooks: Pick<WebhookDeps, 'destinations' | 'fetch'>;
  auth: AuthMethodDeps & TokenMethodDeps;
  authenticator: Authenticator;
  originPolicy: OriginPolicy;
  clientAddress: ClientAddress;
  server: { version: string; host: string; nodeId: string; platform: string };
  live: LiveSettings;
  /** Of this machine, an IANA name. */
  hostTimeZone: string;
  configFile: ConfigFile;
  tickIntervalMs?: number;
  /** One of how many frames is held against its own schema; default 64, 1 in tests. */
  checkFramesEvery?: number;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** What `log` has written lately. */
  logRing: Pick<LogRing, 'tail'>;
}
