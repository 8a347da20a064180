import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Derive } from './password-threads.ts';

/** The minimum that OWASP recommends for Argon2id; 19 MiB and about 30 ms for each password. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Beyond `waiting`, passwords are refused, because they would wait longer than people do. */
const LIMITS = { atOnce: 2, waiting: 100 };

/** Hashes passwords with Argon2id, in other threads, a few at a time. */
export interface Passwords {
  /** In the PHC string format. Throws BUSY when too many wait. */
  hash(password: string): Promise<string>;
  /** Takes the same time whether or not there is a stored hash. Throws BUSY when too many wait. */
  matches(password: string, stored: string | null | undefined): Promise<boolean>;
  /** How many wait for a thread. */
  waiting(): number;
}

interface Parameters {
  memory: number;
  passes: number;
  parallelism: number;
  salt: Buffer;
  hash: Uint8Array;
}

interface PasswordsOptions extends Partial<typeof LIMITS> {
  /** Default: in one of the four threads that Node also reads files with. */
  derive?: Derive;
}

export function createPasswords({
  derive = inPool,
  atOnce = LIMITS.atOnce,
  waiting: most = LIMITS.waiting,
}: PasswordsOptions = {}): Passwords {
  const { run, waiting } = createQueue({ atOnce, waiting: most });
  const digest = (password: string, { memory, passes, parallelism, salt, hash }: Parameters): Promise<Uint8Array> =>
    run(() =>
      derive({
        message: password.normalize('NFKC'),
        nonce: salt,
        memory,
        passes,
        parallelism,
        tagLength: hash.length,
      }),
    );
  return {
    async hash(password) {
      const fresh = { ...COST, salt: randomBytes(SALT_BYTES), hash: Buffer.alloc(HASH_BYTES) };
      return toPhc({ ...fresh, hash: await digest(password, fresh) });
    },
    async matches(password, stored) {
      const known = stored == null ? undefined : fromPhc(stored);
      const parameters = known ?? NOBODY;
      const isSame = timingSafeEqual(await digest(password, parameters), parameters.hash);
      return isSame && known !== undefined;
    },
    waiting,
  };
}

/** Compared with passwords of unknown users. */
const NOBODY: Parameters = { ...COST, salt: randomBytes(SALT_BYTES), hash: randomBytes(HASH_BYTES) };

/** Runs some tasks at a time, in the order in which they came. */
function createQueue({ atOnce, waiting: most }: typeof LIMITS) {
  const waiting: (() => void)[] = [];
  let running = 0;
  const run = async <T>(task: () => Promise<T>): Promise<T> => {
    if (waiting.length >= most) {
      throw new GatewayError('BUSY', 'Too many logins at once. Try again in a few seconds.', { retryAfterMs: 3_000 });
    }
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
  return { run, waiting: () => waiting.length };
}

const argon2InPool = promisify(argon2);
const inPool: Derive = (job) => argon2InPool('argon2id', job);

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '');

const toPhc = ({ memory, passes, parallelism, salt, hash }: Parameters): string =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${toText(salt)}$${toText(hash)}`;

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{16,64})\$([A-Za-z0-9+/]{22,128})$/;

/** Undefined for a text that is no hash of ours: nobody logs in with it. */
function fromPhc(text: string): Parameters | undefined {
  const [, memory, passes, parallelism, salt = '', hash = ''] = PHC.exec(text) ?? [];
  if (memory === undefined) return undefined;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}
