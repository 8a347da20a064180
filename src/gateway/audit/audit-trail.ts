import type { Result } from '../../../protocol/index.ts';
import type { AuditEvent } from '../../../protocol/methods/accounts/audit.ts';
import { type Notice, warn } from '../../../protocol/notice.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { createSerialKeys } from '../../timing/serial-keys.ts';
import { dailyWhileSteady } from '../../timing/steady-time.ts';
import { until } from '../../timing/until.ts';
import type { Statement, Store } from '../store/store.ts';
import type { AuditHead } from './audit-head.ts';
import { type AuditFilter, findAudit } from './audit-pages.ts';
import { type AuditRecord, readRecord } from './audit-record.ts';
import type { SignedEnd, SignedEndState } from './signed-end.ts';
import { NOTHING_SIGNED, verifyChain } from './verify-chain.ts';

/** The head is signed this long after a record, together with those that came meanwhile. */
const SIGN_AFTER_MS = 1_000;
/** Records are kept at least this long. */
const RETENTION_MS = 365 * 86_400_000;
/** Of what changes the head, one at a time. */
const HEAD = 'head';

interface AuditTrailDeps {
  store: Pick<Store, 'db' | 'commit'>;
  end: SignedEnd;
  /** The key that signs was made at this start, so no record can have been signed with it. */
  isKeyNew: boolean;
  clock: Clock;
  log: Log;
}

/**
 * The record of who did what. Each record is chained to the one before it by its digest, and the last one is signed in a
 * file of the home and remembered beside the key, so that neither a change nor a missing record stays unnoticed.
 */
export class AuditTrail {
  readonly #deps: AuditTrailDeps;
  #isDue = true;
  #wake: () => void = () => undefined;
  #isBroken = false;
  readonly #serial = createSerialKeys();

  constructor(deps: AuditTrailDeps) {
    this.#deps = deps;
  }

  /** Stores a record in the unit of what it records. */
  statementOf(record: AuditRecord): Statement {
    this.noteRecord();
    return {
      sql: APPEND_AUDIT,
      inTurn: true,
      parameters: [JSON.stringify(record), record.atMs, record.action, record.userId],
    };
  }

  /** There is a record to be signed: of this daemon, or of another one that uses the database. */
  noteRecord(): void {
    this.#isDue = true;
    this.#wake();
  }

  async append(record: AuditRecord): Promise<void> {
    await this.#deps.store.commit({ statements: [this.statementOf(record)] });
  }

  /** Recognizes a text again that must not be in a record. */
  digestOf(text: string): string {
    return this.#deps.end.digestOf(text);
  }

  /** Newest first. */
  async list(filter: AuditFilter, page: { limit: number; offset: number }): Promise<Result<'audit.list'>> {
    const { rows, total } = await findAudit(this.#deps.store.db, filter, page);
    return { events: rows.map(({ seq, body_json }) => ({ seq, ...(readRecord(body_json) ?? UNREADABLE) })), total };
  }

  /** Checks all records. Does not hold up other work. */
  async verify(): Promise<Result<'audit.verify'>> {
    const { store, end } = this.#deps;
    const signed = await end.read();
    if (signed.kind === 'invalid') return { ok: false, checked: 0, problem: 'signature' };
    if (signed.kind === 'unsigned') {
      const verdict = await verifyChain(store.db, NOTHING_SIGNED);
      return this.#isBroken ? { ...verdict, ok: false, head: 'missing' } : verdict;
    }
    const { kind, head } = signed;
    const verdict = await verifyChain(store.db, head);
    if (kind === 'signed') return verdict.ok ? verdict : { ...verdict, signedSeq: head.seq };
    return { ...verdict, ok: false, signedSeq: head.seq, head: kind };
  }

  /**
   * Compares the last record with the signed head of an earlier run of the daemon, and signs a trail without a head. Call
   * it once, before anything is recorded.
   */
  async recover(onNotice: (notice: Notice) => void): Promise<void> {
    const { end, isKeyNew } = this.#deps;
    const signed = await end.read();
    const last = await this.#lastRow();
    // The key was lost with its database, before the first record: nothing is missing.
    const isFresh = signed.kind === 'invalid' && isKeyNew && last === undefined && signed.known?.seq === 0;
    if (isFresh || (signed.kind === 'unsigned' && (last === undefined || !isKeyNew))) {
      // From now on there is a head, so one that is missing was removed.
      await this.#tryTo(() => end.write({ ...NOTHING_SIGNED, ...last }));
      if (last !== undefined) onNotice(warn('audit_unsigned', unsignedText(last.seq)));
      return;
    }
    const problem = await this.#problemOf(signed);
    if (problem === undefined) {
      if (signed.kind === 'signed') await this.#tryTo(() => end.remember(signed.head));
      return;
    }
    this.#isBroken = true;
    onNotice(warn('audit_damaged', `The audit trail is not as it was left: ${problem}. Run: headgate audit verify`));
  }

  /** Signs new heads, and removes old records while the clock does not jump, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const dropping = dailyWhileSteady(clock, signal, () => this.#serial.run(HEAD, () => this.#dropOld()));
    while (!signal.aborted) {
      if (this.#isDue) await this.#signHead();
      await this.#untilDue(signal);
      await clock.sleep(SIGN_AFTER_MS, signal).catch(() => undefined); // aborted: the loop ends
    }
    await dropping;
    await this.#signHead();
  }

  async #problemOf(signed: SignedEndState): Promise<string | undefined> {
    if (signed.kind === 'invalid') return 'the signature of its last record is wrong';
    if (signed.kind === 'unsigned') return 'the file with its signature and the key for it are missing';
    const { kind, head } = signed;
    const isWhole = await this.#extends(head);
    const problems = [
      kind === 'missing' && 'the file with its signature is missing',
      kind === 'older' && 'the file with its signature is an older version of itself',
      !isWhole && `record ${head.seq} is missing or was changed`,
    ].filter((problem) => problem !== false);
    return problems.length === 0 ? undefined : problems.join(', and ');
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

  async #signHead(): Promise<void> {
    this.#isDue = false;
    if (!this.#isBroken) await this.#serial.run(HEAD, () => this.#continueHead());
  }

  /** A head is replaced only by one that continues it: a trail that was cut off stays recognizable. */
  async #continueHead(): Promise<void> {
    const { end, log } = this.#deps;
    try {
      const signed = await end.read();
      const last = await this.#lastRow();
      const head = await this.#continued(signed);
      if (head === undefined) {
        this.#isBroken = true;
        log.error({}, 'the audit trail was changed by another program');
      } else if (last !== undefined && last.seq !== head.seq) {
        await end.write({ ...head, ...last });
      } else {
        await end.remember(head); // the disk may have been full after the head was written
      }
    } catch (error) {
      this.#failed(error);
    }
  }

  /** A full disk is no reason not to start; the head is signed again after the next record. */
  async #tryTo(write: () => Promise<void>): Promise<void> {
    await write().catch((error: unknown) => this.#failed(error));
  }

  #failed(err: unknown): void {
    this.#isDue = true;
    this.#deps.log.warn({ err }, 'the head of the audit trail could not be signed');
  }

  /** The head that the records continue; undefined: they do not, or somebody removed or replaced the head. */
  async #continued(signed: SignedEndState): Promise<AuditHead | undefined> {
    if (signed.kind === 'unsigned') return NOTHING_SIGNED;
    return signed.kind === 'signed' && (await this.#extends(signed.head)) ? signed.head : undefined;
  }

  /** The signed head says where the trail begins before anything is deleted. */
  async #dropOld(): Promise<void> {
    const { store, end, log } = this.#deps;
    try {
      const signed = await end.read();
      if (this.#isBroken || signed.kind !== 'signed') return;
      const { head } = signed;
      const { db } = store;
      const newest = await this.#newestOld(head);
      if (newest === undefined) return;
      await end.write({ ...head, firstSeq: newest.seq + 1, before: newest.digest });
      const gone = db.deleteFrom('audit').where('seq', '<=', newest.seq);
      await store.commit({ statements: [gone.compile()] });
    } catch (error) {
      log.warn({ err: error }, 'old audit records could not be removed');
    }
  }

  /**
   * The last one of the records that may go: it is old, and so are all before it. A clock that was wrong when one of them was
   * written does not matter: one that is called old does not make new ones before it old, and a time in the future says nothing.
   */
  async #newestOld(head: AuditHead) {
    const { store, clock } = this.#deps;
    const records = store.db.selectFrom('audit').select(['seq', 'digest']).where('seq', '<', head.seq).limit(1);
    const [nowMs, beforeMs] = [clock.now(), clock.now() - RETENTION_MS];
    const kept = await records
      .where('at_ms', '>=', beforeMs)
      .where('at_ms', '<=', nowMs)
      .orderBy('seq')
      .executeTakeFirst();
    const old = kept === undefined ? records : records.where('seq', '<', kept.seq);
    return old.where('at_ms', '<', beforeMs).orderBy('seq', 'desc').executeTakeFirst();
  }

  async #untilDue(signal: AbortSignal): Promise<void> {
    if (this.#isDue || signal.aborted) return;
    const woken = Promise.withResolvers<void>();
    this.#wake = woken.resolve;
    await until(woken.promise, signal).catch(() => undefined); // aborted: the loop ends
    this.#wake = () => undefined;
  }
}

/** Parameters: the record as JSON text, its time, action and user. Only the database knows the last record, because a unit before this one may have been refused. */
export const APPEND_AUDIT = `insert into audit (seq, body_json, digest, at_ms, action, user_id)
  select last.seq + 1, ?1, audit_digest(last.digest, last.seq + 1, ?1), ?2, ?3, ?4
  from (select seq, digest from (
    select seq, digest from audit union all select 0, '' order by seq desc limit 1
  ) as newest) as last`;

const unsignedText = (seq: number): string =>
  `The audit trail had no signature yet. From now on it is signed, with the ${seq} records that it has.`;

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
