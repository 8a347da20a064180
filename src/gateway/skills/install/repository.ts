import { createHash } from 'node:crypto';
import { z } from 'zod';
import { GatewayError } from '../../../../protocol/errors.ts';
import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { SourceAddress } from './source-address.ts';
import type { SourceClient, SourceSettings } from './source-client.ts';

/** A file of a repository. */
export interface RepositoryFile {
  path: string;
  /** As Git names its content. */
  sha: string;
  size: number;
}

/** The files of one state of a repository. */
export interface Repository {
  ref: string;
  files: readonly RepositoryFile[];
  /** Exactly the content of the list: what was changed meanwhile is refused. Throws UPSTREAM_FAILED. */
  read(file: RepositoryFile): Promise<Buffer>;
}

/** A list of the files of large repositories. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;

const Tree = z.object({
  truncated: z.boolean().optional(),
  tree: z.array(
    z.object({
      path: z.string(),
      type: z.string(),
      /** `120000`: a link. */
      mode: z.string(),
      sha: z.string(),
      size: z.int().min(0).optional(),
    }),
  ),
});

interface RepositoryDeps {
  client: SourceClient;
  settings(): SourceSettings;
}

/** Lists a repository: of the given branch, otherwise of `main` or `master`. Undefined: there is no such repository or branch. */
export async function openRepository(
  { owner, repo, ref: given }: SourceAddress,
  { client, settings }: RepositoryDeps,
): Promise<Repository | undefined> {
  const { apiUrl, rawUrl } = settings();
  for (const ref of given === undefined ? ['main', 'master'] : [given]) {
    const url = below(apiUrl, ['repos', owner, repo, 'git', 'trees', ref]);
    const listed = await client.get(`${url}?recursive=1`, MAX_LIST_BYTES);
    if (listed.kind === 'missing') continue;
    return {
      ref,
      files: toFiles(listed.bytes),
      async read(file) {
        const fetched = await client.get(below(rawUrl, [owner, repo, ref, ...file.path.split('/')]), file.size);
        if (fetched.kind === 'missing') throw changed(file.path);
        const bytes = Buffer.from(fetched.bytes);
        if (shaOf(bytes) !== file.sha) throw changed(file.path);
        return bytes;
      },
    };
  }
  return undefined;
}

/** Without links and the repositories inside, because they lead elsewhere. */
function toFiles(bytes: Uint8Array): RepositoryFile[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw odd('it is no JSON', cause);
  }
  const tree = Tree.safeParse(parsed);
  if (!tree.success) throw odd('it has another form');
  if (tree.data.truncated) throw odd('the repository has too many files');
  return tree.data.tree
    .filter(({ type, mode }) => type === 'blob' && mode !== '120000')
    .map(({ path, sha, size = 0 }) => ({ path, sha, size }));
}

const odd = (why: string, cause?: unknown) =>
  new GatewayError('UPSTREAM_FAILED', `The list of files of the repository cannot be used: ${why}`, { cause });

const changed = (path: string) =>
  new GatewayError('UPSTREAM_FAILED', `${toVisibleLine(path)} was changed while it was fetched; try again`);

/** As Git names a file by its content. */
const shaOf = (bytes: Buffer): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

const below = (base: string, parts: readonly string[]): string =>
  `${trimEndOf(base, '/')}/${parts.map(encodeURIComponent).join('/')}`;
