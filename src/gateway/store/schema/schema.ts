import type { Visibility } from '../../../../protocol/methods/conversation/sharing.ts';
import type { RunOutcome } from '../../../../protocol/run-outcome.ts';
import type { QuestionKind } from '../../../../protocol/stream-events.ts';
import type { SideTables } from './agents/side-tables.ts';
import type { TreeColumns } from './coordinators/coordinator-schema.ts';
import type {
  ApiTokenTable,
  LoginCodeTable,
  LoginSessionTable,
  SecretTable,
  StoreKeyTable,
} from './credential-schema.ts';
import type { CronAttemptTable, CronJobTable, CronOccurrenceTable, MainEventTable } from './cron-schema.ts';
import type { CheckpointTable, FileChangeTable } from './files/checkpoint-schema.ts';
import type { OidcIdentityTable } from './identity-schema.ts';
import type { PlacedColumns } from './list-schema.ts';
import type { MemoryTables } from './memory-schema.ts';
import type { InvocationTable, NodeTable } from './node-schema.ts';
import type { RuleTable, ToolPolicyTable } from './policy-schema.ts';
import type { InstructionTrustTable, PrefixTable, WorkdirTable } from './prefix-schema.ts';
import type { SkillTables } from './skills/skill-schema.ts';
import type { TemplateTables } from './template-schema.ts';
import type { BudgetGrantTable, ReservationTable, UsageTable, WorkstreamBudgetTable } from './usage-schema.ts';
import type { AuditTable, OrgTable, RoleAssignmentTable, RoleTable, UserTable } from './user-schema.ts';
import type { AssessmentTable, VerdictTable } from './verdict-schema.ts';

/** The tables for kysely. Times are milliseconds since the epoch; `…_json` columns hold JSON text. */
export interface Database extends SideTables, TemplateTables, SkillTables, MemoryTables {
  tool_policies: ToolPolicyTable;
  output_assessments: AssessmentTable;
  verdicts: VerdictTable;
  rules: RuleTable;
  checkpoints: CheckpointTable;
  file_changes: FileChangeTable;
  meta: MetaTable;
  workstreams: WorkstreamTable;
  messages: MessageTable;
  cuts: CutTable;
  events: EventTable;
  log_heads: LogHeadTable;
  notes: NoteTable;
  runs: RunTable;
  usage: UsageTable;
  reservations: ReservationTable;
  budget_grants: BudgetGrantTable;
  workstream_budgets: WorkstreamBudgetTable;
  journal: JournalTable;
  approvals: ApprovalTable;
  idempotency: IdempotencyTable;
  login_codes: LoginCodeTable;
  login_sessions: LoginSessionTable;
  api_tokens: ApiTokenTable;
  outbox: OutboxTable;
  cron_jobs: CronJobTable;
  cron_occurrences: CronOccurrenceTable;
  cron_attempts: CronAttemptTable;
  main_events: MainEventTable;
  nodes: NodeTable;
  invocations: InvocationTable;
  attachments: AttachmentTable;
  workdirs: WorkdirTable;
  prefixes: PrefixTable;
  instruction_trust: InstructionTrustTable;
  users: UserTable;
  oidc_identities: OidcIdentityTable;
  roles: RoleTable;
  role_assignments: RoleAssignmentTable;
  orgs: OrgTable;
  audit: AuditTable;
  store_keys: StoreKeyTable;
  secrets: SecretTable;
}

/** schema_version, epoch, clean_stop, last_alive_ms … */
export interface MetaTable {
  key: string;
  value: string;
}

export interface WorkstreamTable extends TreeColumns, PlacedColumns {
  ws_id: string;
  /** `main`, `cron:<jobId>`, the alias that created the session, or null (then the ws_id is the key). As unique as an alias. */
  session_key: string | null;
  /** The name that a person gave, unique with owner and visibility; null: the generated name applies. */
  alias: string | null;
  generated_name: string;
  title: string | null;
  /** null: the default model. */
  model_alias: string | null;
  /** The principal that enabled auto-approve; null: it is off. */
  always_by: string | null;
  /** Null: it does not end, or is off. */
  always_until_ms: number | null;
  /** The names of the only tools that auto-approve covers, as JSON; null: it covers all of them, or is off. */
  always_tools_json: string | null;
  /** What auto-approve covers besides nothing: `edits` or `auto`; null: all tools, or those listed. */
  always_mode: 'edits' | 'auto' | null;
  /** 0 or 1: whether calls that change something are blocked, unless auto-approve covers all tools. */
  read_only: number;
  thinking_level: string | null;
  verbose_level: string | null;
  workdir: string;
  /** The inode of the working directory, decimal; null until the first use since version 16. */
  workdir_ino: string | null;
  /** `FolderIdentity[]`: additional folders that may be read without approval. */
  readable_json: string;
  /**
   * 1: open, and reopened at the next start; 2: unloaded to make room, reopened on use; 0: closed; 3: deleted, rows
   * being removed.
   */
  loaded: 0 | 1 | 2 | 3;
  /** The context begins after this message (/clear). */
  context_after_seq: number;
  message_count: number;
  /** How many of the messages since then were taken back or removed, so that they no longer count. */
  cut_count: number;
  /** Sums and last values of token use, as JSON. */
  usage_json: string | null;
  /** Every write of a run names its epoch; a force cancel increments it. */
  run_epoch: number;
  /** How the latest run ended; null before the first end. */
  last_run_status: RunOutcome['status'] | null;
  /** How many tool calls have begun. */
  tool_calls: number;
  /** The model that shall judge its tool calls; null: the usual one. Without an effect yet. */
  judge_model: string | null;
  created_ms: number;
  updated_ms: number;
  /** A user, who may be deleted by now; empty: the operator. */
  owner_id: string;
  visibility: Visibility;
}

/** Unique by (ws_id, seq); seq has no gaps and begins at 1. */
export interface MessageTable {
  ws_id: string;
  seq: number;
  run_id: string | null;
  /** A `Message` of the agent. */
  body_json: string;
  created_ms: number;
  /** See `messageChecksums`. */
  checksum: number | null;
}

/** A range of messages that no longer counts; the messages stay stored. Primary key (ws_id, n). */
export interface CutTable {
  ws_id: string;
  /** Numbered from 1 without gaps: a cut applies to what the earlier ones left. */
  n: number;
  /**
   * For models only: `compaction`: one message stands in its place; `prune`: its long outputs are a line each; `attachments`:
   * only the names of its files are read; `images`: only the names of its images are read; `unbind`: its answers are sent
   * without signed reasoning; `tools`: nothing is read differently, but the requests have other tools.
   */
  kind: 'rewind' | 'remove' | 'compaction' | 'prune' | 'attachments' | 'images' | 'unbind' | 'tools';
  /** The range: `after_seq` < seq ≤ `to_seq`. */
  after_seq: number;
  to_seq: number;
  /** The workstream's message count at that time. */
  at_seq: number;
  /** The `Message` that stands in its place. */
  body_json: string | null;
  created_ms: number;
  /** The `cutChecksum` of the row. */
  checksum: number;
}

/**
 * Primary key (ws_id, offset). Offsets have no gaps after the log's first one, but a packed row stands for several events
 * and has the offset of the last one (decision 53).
 */
export interface EventTable {
  ws_id: string;
  offset: number;
  /** An event, or a `PackedBody`; of a block, several of them, compressed (decision 55). */
  body_json: string | Uint8Array;
  created_ms: number;
  /** The `eventChecksum` of the row. */
  checksum: number | null;
}

/** Both ends of a log, so that missing rows at the ends are detected. A log without a row begins at 1. */
export interface LogHeadTable {
  ws_id: string;
  first: number;
  /** A lower bound; updated from time to time and at an orderly stop. */
  last: number;
  /** The log is compacted up to this offset. */
  compacted: number;
  /** Its blocks up to this offset are full. */
  blocked: number;
}

/** An event that is kept as long as the messages. Primary key (ws_id, after_seq, offset). */
export interface NoteTable {
  ws_id: string;
  /** The workstream's message count at that time. */
  after_seq: number;
  /** Its offset in the log; below 1 when it was copied from another workstream, which sorts before the log. */
  offset: number;
  /** The event. */
  body_json: string;
  created_ms: number;
}

export interface RunTable {
  run_id: string;
  ws_id: string;
  /** The caller. Unique together with ws_id and run_key, so a key identifies one run. */
  principal: string;
  run_key: string | null;
  source: 'person' | 'agent' | 'cron';
  /** `queued` and `running` are reconciled at startup; the others are final. */
  status: 'queued' | 'running' | RunOutcome['status'];
  /** The message and the options that it was accepted with. Of an ended run that had begun, the message is empty. */
  request_json: string;
  epoch: number;
  error: string | null;
  /** Null for `ok`: its messages have the answer. */
  summary: string | null;
  accepted_ms: number;
  started_ms: number | null;
  ended_ms: number | null;
}

/**
 * The steps of a run, appended before they take effect; folding them gives the phase to resume from. Primary key
 * (run_id, seq).
 */
export interface JournalTable {
  run_id: string;
  seq: number;
  kind: string;
  body_json: string;
  at_ms: number;
}

export interface ApprovalTable {
  approval_id: string;
  ws_id: string;
  run_id: string;
  kind: QuestionKind;
  status: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';
  /** The items as shown. */
  items_json: string;
  /** call_id → digest of (tool, canonical arguments, working directory, bound state), as JSON. */
  digests_json: string;
  feedback: string | null;
  always: 0 | 1;
  /**
   * A principal, or the kind of `DecidedBy`, for people only. The journal and the events have the authoritative data.
   */
  decided_by: string | null;
  asked_ms: number;
  expires_ms: number;
  decided_ms: number | null;
}

/** Primary key (principal, method, key). */
export interface IdempotencyTable {
  principal: string;
  method: string;
  key: string;
  /** SHA-256 of the canonical params without the key. The same key with other params is a conflict. */
  digest: string;
  /** `kept` (passed to the handler of a repeat), `result` or `error` (returned unchanged). */
  kind: 'kept' | 'result' | 'error';
  body_json: string;
  created_ms: number;
  expires_ms: number;
}

/** Outgoing messages; `seq` increases in the order of acceptance. */
export interface OutboxTable {
  message_id: string;
  seq: number;
  provider: string;
  destination: string;
  /** The session whose run sent it. */
  ws_id: string | null;
  sender: string;
  message: string;
  media_url: string | null;
  /** dead: given up; `error` has the reason. */
  status: 'pending' | 'delivered' | 'dead';
  attempts: number;
  /** The earliest time of the next attempt. */
  next_ms: number;
  error: string | null;
  accepted_ms: number;
  ended_ms: number | null;
}

/** Primary key (ws_id, attachment_id), because a copied conversation shares the files of its messages. */
export interface AttachmentTable {
  ws_id: string;
  attachment_id: string;
  /** The principal that uploaded it. */
  principal: string;
  filename: string;
  mime_type: string;
  size_bytes: number;
  kind: 'image' | 'text';
  /** `pending`: uploaded; `reserved`: for a queued message; `consumed`: part of the conversation. */
  status: 'pending' | 'reserved' | 'consumed';
  run_id: string | null;
  created_ms: number;
}
