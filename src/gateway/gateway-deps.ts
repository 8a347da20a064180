import type { Notice } from '../../protocol/notice.ts';
import type { CheckpointFiles } from '../agent/checkpoints/checkpoint-files.ts';
import type { Hooks } from '../agent/hooks/hooks.ts';
import type { ToolServers } from '../agent/mcp/tool-servers.ts';
import type { OutputChecks } from '../agent/output/answer-checks.ts';
import type { Surroundings } from '../agent/prefix/surroundings.ts';
import type { ProjectCommands } from '../agent/project/project-commands.ts';
import type { Models } from '../agent/providers/model.ts';
import type { Heard, Speech } from '../agent/speech/speech.ts';
import type { ReadPdfText } from '../agent/tools/documents/attached-pdf.ts';
import type { ProcessIdentity } from '../agent/tools/tool.ts';
import type { Toolbox } from '../agent/tools/toolbox.ts';
import type { Workspace } from '../agent/workspace/workspace.ts';
import type { Clock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import type { Log } from '../log.ts';
import type { LogRing } from '../log-ring.ts';
import type { Tracing } from '../tracing.ts';
import type { AttachmentFiles } from './attachments/attachment-files.ts';
import type { AuditTrail } from './audit/audit-trail.ts';
import type { CallAudit } from './audit/call-audit.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { ClientAddress } from './auth/client-address.ts';
import type { LoginCodes } from './auth/logins/login-codes.ts';
import type { OriginPolicy } from './auth/origin-policy.ts';
import type { Background } from './background/background-records.ts';
import type { ChannelServices } from './channels/channel-services.ts';
import type { LiveSettings } from './live-settings.ts';
import type { McpAdmin } from './mcp/mcp-noun.ts';
import type { Consents } from './mcp/oauth/consents.ts';
import type { OpenedMemories } from './memories/open-memories.ts';
import type { AuthMethodDeps } from './methods/accounts/auth.ts';
import type { OidcMethodDeps } from './methods/accounts/oidc.ts';
import type { RoleMethodDeps } from './methods/accounts/role.ts';
import type { TokenMethodDeps } from './methods/accounts/token.ts';
/** Everything the gateway depends on: stores, models, tools, and its environment. */
import type { UserMethodDeps } from './methods/accounts/user.ts';
import type { DaemonMethodDeps } from './methods/admin/daemon.ts';
import type { SecretsMethodDeps } from './methods/admin/secrets.ts';
import type { ConfigFile } from './methods/config.ts';
import type { ConsentMethodDeps } from './methods/consents/mcp-consent.ts';
import type { OutputMethodDeps } from './methods/output.ts';
import type { Nodes } from './nodes/nodes.ts';
import type { OpenedSkills } from './skills/open-skills.ts';
import type { SharedStore } from './store/daemon-store.ts';
import type { Store } from './store/store.ts';
import type { Orgs } from './users/orgs.ts';
import type { Users } from './users/users.ts';
import type { Machines } from './workers/team.ts';
import type { Workdirs } from './workstreams/workdirs.ts';

/** Users, their credentials, and the record of what they did. */
export interface AccountDeps extends AuthMethodDeps, TokenMethodDeps, UserMethodDeps, RoleMethodDeps, OidcMethodDeps {
  sessions: AuthMethodDeps['sessions'] & TokenMethodDeps['sessions'];
  codes: LoginCodes;
  tokens: TokenMethodDeps['tokens'] & UserMethodDeps['tokens'];
  oidc: OidcMethodDeps['oidc'];
  users: Users;
  orgs: Orgs;
  trail: Pick<AuditTrail, 'list' | 'verify' | 'statementOf' | 'noteRecord'>;
  audit: CallAudit;
  vault: SecretsMethodDeps['vault'];
  isLoginSecretChosen: boolean;
  /** Reads the credentials again, which the active daemon changes. Only at workers. */
  reload?: (() => Promise<void>) | undefined;
  /** Accounts of people at tool servers. */
  consents: ConsentMethodDeps & Pick<Consents, 'recover' | 'close' | 'ending' | 'userIn' | 'onWaiting'>;
}

export interface GatewayDeps {
  store: Store;
  /** Absent: no other daemon can use the store. */
  shared?: SharedStore | undefined;
  /** Shown to people who ask where sessions are stored. */
  storePath: string;
  lastAliveMs: number | undefined;
  /** Problems found at this start, such as damaged files. */
  startNotices: readonly Notice[];
  models: Models;
  nodes: Nodes;
  toolbox: Toolbox;
  /** Programs and addresses that give the agent further tools. */
  toolServers: ToolServers;
  /** For tool servers that are added over the wire. */
  mcpAdmin: McpAdmin;
  /** Commands of the configuration that run at moments of runs. */
  hooks: Hooks;
  surroundings: Surroundings;
  projectCommands: ProjectCommands;
  notSandboxed: string | undefined;
  /** Checks answers against the schemas of their requests. */
  outputChecks: OutputChecks;
  /** Commands that go on between runs. */
  background: Background;
  memories: OpenedMemories;
  skills: OpenedSkills;
  /** The home of the user that commands run as; undefined if it is unknown. */
  userHome: string | undefined;
  killLeftover(process: ProcessIdentity): Promise<unknown>;
  workdirs: Workdirs;
  readOutput: OutputMethodDeps['readOutput'];
  attachmentFiles: AttachmentFiles;
  checkpointFiles: CheckpointFiles;
  /** The files of workstreams, for people. */
  workspace: Workspace;
  /** Replaces known secrets in a text. */
  clean(text: string): string;
  channelServices: ChannelServices;
  /** Turns recordings that people send into text. */
  hear(speech: Speech): Promise<Heard>;
  /** The text of attached PDFs. */
  pdfText: ReadPdfText;
  auth: AccountDeps;
  authenticator: Authenticator;
  originPolicy: OriginPolicy;
  clientAddress: ClientAddress;
  server: {
    version: string;
    host: string;
    nodeId: string;
    /** What this machine has, for workstreams that need it. */
    labels: readonly string[];
    platform: string;
    /** The address at which clients reach this daemon. */
    url(): string;
  };
  /** The other machines that have workstreams. Absent: there can be none. */
  machines?: Machines | undefined;
  live: LiveSettings;
  /** The zone of this machine, an IANA name. */
  hostTimeZone: string;
  configFile: ConfigFile;
  restart: DaemonMethodDeps['restart'];
  tickIntervalMs?: number;
  /** How many frames are sent per schema check; default 64, 1 in tests. */
  checkFramesEvery?: number;
  /** Without it, no spans are reported. */
  tracing?: Tracing | undefined;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** The latest lines of `log`. */
  logRing: Pick<LogRing, 'tail'>;
}
