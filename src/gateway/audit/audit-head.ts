import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { readPrivateFile } from '../../home/private-file.ts';
import { replaceFile } from '../../home/replace-file.ts';

/** Its name in the home. */
export const AUDIT_HEAD_FILE = 'audit-head.json';

/** Checks a head that was read from a file. */
export const AuditHead = z.strictObject({
  /** The first record that is kept, and the digest before it. */
  firstSeq: z.int().min(1),
  before: z.string(),
  /** The last record that was signed, and its digest; 0 if there was none. */
  seq: z.int().min(0),
  digest: z.string(),
});

/** Where the trail begins and ends. */
export type AuditHead = z.infer<typeof AuditHead>;

const Signed = z.strictObject({ ...AuditHead.shape, signature: z.string() });

/** The signed head of the audit trail, in a file beside the database. */
export interface AuditHeadFile {
  /** Undefined: nothing was signed yet. `invalid`: somebody else wrote it. */
  read(): Promise<AuditHead | undefined | 'invalid'>;
  write(head: AuditHead): Promise<void>;
  /** Recognizes a text again without telling it: of short texts, a digest without a key could be guessed. */
  digestOf(text: string): string;
}

interface AuditHeadOptions {
  path: string;
  /** In hex. */
  secret: string;
  /** A copy in the store, for the other daemons that use it. */
  shared?: SharedText | undefined;
}

/** A text that all daemons of a store have. */
interface SharedText {
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

export function createAuditHeadFile({ path, secret, shared }: AuditHeadOptions): AuditHeadFile {
  const key = Buffer.from(secret, 'hex');
  const sign = ({ firstSeq, before, seq, digest }: AuditHead): string =>
    createHmac('sha256', key).update([firstSeq, before, seq, digest].join('\n')).digest('hex');
  const open = (text: string | undefined): AuditHead | undefined | 'invalid' => {
    if (text === undefined) return undefined;
    const { signature, ...head } = toSigned(text) ?? { signature: '', firstSeq: 1, before: '', seq: 0, digest: '' };
    return isSame(signature, sign(head)) ? head : 'invalid';
  };
  return {
    async read() {
      const own = open(await readPrivateFile(path));
      const common = open(await shared?.read());
      // Another daemon has signed since. An older copy, or one that somebody else wrote, says nothing.
      return isLater(common, own) ? common : own;
    },
    digestOf: (text) => createHmac('sha256', key).update(`text\n${text}`).digest('hex'),
    async write(head) {
      const text = `${JSON.stringify({ ...head, signature: sign(head) })}\n`;
      await replaceFile(path, text);
      await shared?.write(text);
    },
  };
}

function isLater(common: AuditHead | undefined | 'invalid', own: AuditHead | undefined | 'invalid'): boolean {
  if (common === undefined || common === 'invalid' || own === 'invalid') return false;
  return own === undefined || (common.seq >= own.seq && common.firstSeq >= own.firstSeq);
}

function toSigned(text: string): z.infer<typeof Signed> | undefined {
  try {
    return Signed.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // not JSON
  }
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
