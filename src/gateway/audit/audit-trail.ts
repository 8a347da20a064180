import type { Result } from '../../../protocol/index.ts';
import type { AuditEvent } from '../../../protocol/methods/accounts/audit.ts';
import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Statement, Store } from '../store/store.ts';
import type { AuditHead, AuditHeadFile } from './audit-head.ts';
import { type AuditFilter, findAudit } from './audit-pages.ts';
import { type AuditRecord, readRecord } from './audit-record.ts';
import { verifyChain } from './verify-chain.ts';

/** The head is signed this long after a record, together with those that came meanwhile. */
const SIGN_AFTER_MS = 1_000;
/** Records are kept at least this long. */
const RETENTION_MS = 365 * 86_400_000;
const DAY_MS = 86_400_000;

interface AuditTrailDeps {
  store: Pick<Store, 'db' | 'commit'>;
  head: AuditHeadFile;
  clock: Clock;
  log: Log;
}

/**
 * The record of who did what. Each record is chained to the one before it by its digest, and the last one is signed in a
 * file of the home, so that neither a change nor a missing record stays unnoticed.
 */
export class AuditTrail {
  readonly #deps: AuditTrailDeps;
  #isDue = true;
  #wake: () => void = () => undefined;
  #isBroken = false;

  constructor(deps: AuditTrailDeps) {
    this.#deps = deps;
  }

  /** Stores a record in the unit of what it records. */
  statementOf(record: AuditRecord): Statement {
    this.#isDue = true;
    this.#wake();
    return {
      sql: APPEND_AUDIT,
      parameters: [JSON.stringify(record), record.atMs, record.action, record.userId],
    };
  }

  async append(record: AuditRecord): Promise<void> {
    await this.#deps.store.commit({ statements: [this.statementOf(record)] });
  }

  /** Newest first. */
  async list(filter: AuditFilter, page: { limit: number; offset: number }): Promise<Result<'audit.list'>> {
    const { rows, total } = await findAudit(this.#deps.store.db, filter, page);
    return { events: rows.map(({ seq, body_json }) => ({ seq, ...(readRecord(body_json) ?? UNREADABLE) })), total };
  }

  /** Checks all records. Does not hold up other work. */
  async verify(): Promise<Result<'audit.verify'>> {
    const head = await this.#deps.head.read();
    if (head === 'invalid') return { ok: false, checked: 0, problem: 'signature' };
    return verifyChain(this.#deps.store.db, head);
  }

  /** Compares the last record with the signed head of an earlier run of the daemon. Call it once, before anything is recorded. */
  async recover(onNotice: (notice: Notice) => void): Promise<void> {
    const problem = await this.#findProblem();
    if (problem === undefined) return;
    this.#isBroken = true;
    onNotice(warn('audit_damaged', `The audit trail is not as it was left: ${problem}. Run: headgate audit verify`));
  }

  /** Signs new heads and removes old records, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    let tidiedMs = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      if (this.#isDue) await this.#signHead();
      if (clock.monotonic() - tidiedMs >= DAY_MS) {
        tidiedMs = clock.monotonic();
        await this.#dropOld();
      }
      await this.#untilDue(signal);
      await clock.sleep(SIGN_AFTER_MS, signal).catch(() => undefined); // aborted: the loop ends
    }
    await this.#signHead();
  }

  async #findProblem(): Promise<string | undefined> {
    const head = await this.#deps.head.read();
    if (head === 'invalid') return 'the signature of its last record is wrong';
    if (head === undefined) {
      return (await this.#lastRow()) === undefined ? undefined : 'the file with its signature is missing';
    }
    return (await this.#extends(head)) ? undefined : `record ${head.seq} is missing or was changed`;
  }

  /** Whether the record that was signed last is still there. */
  async #extends({ seq, digest }: AuditHead): Promise<boolean> {
    if (seq === 0) return true;
    const row = await this.#deps.store.db
      .selectFrom('audit')
      .select('digest')
      .where('seq', '=', seq)
      .executeTakeFirst();
    return row?.digest === digest;
  }

  #lastRow() {
    const { db } = this.#deps.store;
    return db.selectFrom('audit').select(['seq', 'digest']).orderBy('seq', 'desc').limit(1).executeTakeFirst();
  }

  /** A head is replaced only by one that continues it: a trail that was cut off stays recognizable. */
  async #signHead(): Promise<void> {
    const { head: file, log } = this.#deps;
    this.#isDue = false;
    if (this.#isBroken) return;
    try {
      const head = await file.read();
      const last = await this.#lastRow();
      if (head === 'invalid' || (head !== undefined && !(await this.#extends(head)))) {
        this.#isBroken = true;
        log.error({}, 'the audit trail was changed by another program');
      } else if (last !== undefined && last.seq !== head?.seq) {
        await file.write({ firstSeq: 1, before: '', ...head, ...last });
      }
    } catch (error) {
      this.#isDue = true;
      log.warn({ err: error }, 'the head of the audit trail could not be signed');
    }
  }

  /** The signed head says where the trail begins before anything is deleted. */
  async #dropOld(): Promise<void> {
    const { store, head: file, clock, log } = this.#deps;
    try {
      const head = await file.read();
      if (this.#isBroken || head === undefined || head === 'invalid') return;
      const { db } = store;
      const newest = await db
        .selectFrom('audit')
        .select(['seq', 'digest'])
        .where('at_ms', '<', clock.now() - RETENTION_MS)
        .where('seq', '<', head.seq)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst();
      if (newest === undefined) return;
      await file.write({ ...head, firstSeq: newest.seq + 1, before: newest.digest });
      const gone = db.deleteFrom('audit').where('seq', '<=', newest.seq);
      await store.commit({ statements: [gone.compile()] });
    } catch (error) {
      log.warn({ err: error }, 'old audit records could not be removed');
    }
  }

  async #untilDue(signal: AbortSignal): Promise<void> {
    if (this.#isDue || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
    const nap = this.#deps.clock.sleep(DAY_MS, signal).catch(() => undefined); // aborted: the loop ends
    await Promise.race([promise, nap]);
    this.#wake = () => undefined;
  }
}

/** Parameters: the record as JSON text, its time, action and user. Only the database knows the last record, because a unit before this one may have been refused. */
export const APPEND_AUDIT = `insert into audit (seq, body_json, digest, at_ms, action, user_id)
  select last.seq + 1, ?1, audit_digest(last.digest, last.seq + 1, ?1), ?2, ?3, ?4
  from (select seq, digest from (
    select seq, digest from audit union all select 0, '' order by seq desc limit 1
  )) as last`;

/** Shown in place of a record that is none; \`verify` finds it. */
const UNREADABLE: Omit<AuditEvent, 'seq'> = {
  eventId: '',
  atMs: 0,
  userId: '',
  username: '',
  principal: '',
  action: 'audit.unreadable',
  resourceType: '',
  resourceId: '',
  outcome: 'failed',
  detail: '{}',
  ipAddress: '',
};
