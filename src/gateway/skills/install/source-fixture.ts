import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A directory of skills and a host of repositories on this machine. What it has may be changed by a test. */
export async function sourceServer() {
  const asked: string[] = [];
  const stub = {
    asked,
    /** `owner/repo@branch` → path → content. */
    repositories: {} as Record<string, Record<string, string | Buffer>>,
    /** The answer of the search. */
    found: { skills: [] } as unknown,
    /** Answers these paths instead. */
    instead: new Map<string, Answer>(),
    /** Entries of lists that are no plain files. */
    odd: [] as object[],
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://stub');
    asked.push(url.pathname);
    const other = stub.instead.get(url.pathname);
    if (other) return other(request, response);
    const answer = answerTo(url, stub);
    response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the stub has no port');
  const base = `http://127.0.0.1:${address.port}`;
  return Object.assign(stub, {
    base,
    sources: { discoveryUrl: base, apiUrl: `${base}/api.github`, rawUrl: `${base}/raw`, privateHosts: [] },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

function answerTo(
  { pathname }: URL,
  {
    repositories,
    found,
    odd,
  }: { repositories: Record<string, Record<string, string | Buffer>>; found: unknown; odd: object[] },
): string | Buffer | undefined {
  if (pathname === '/api/search') return JSON.stringify(found);
  const [, owner, repo, ref] = /^\/api\.github\/repos\/([^/]+)\/([^/]+)\/git\/trees\/([^/]+)$/.exec(pathname) ?? [];
  if (owner !== undefined) {
    const files = repositories[`${owner}/${repo}@${ref}`];
    return (
      files && JSON.stringify({ sha: 'x', truncated: false, tree: [...Object.entries(files).map(toEntry), ...odd] })
    );
  }
  const [, place = '', file = ''] = /^\/raw\/([^/]+\/[^/]+\/[^/]+)\/(.*)$/.exec(decodeURIComponent(pathname)) ?? [];
  return repositories[place.replace(/\/([^/]+)$/, '@$1')]?.[file];
}

const toEntry = ([path, content]: [string, string | Buffer]) => {
  const bytes = Buffer.from(content);
  const sha = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  return { path, type: 'blob', mode: '100644', sha, size: bytes.length };
};

/** A SKILL.md. */
export const skillFile = (name: string, { head = '', text = `Do ${name}.` } = {}): string =>
  ['---', `name: ${name}`, `description: Does ${name}.`, ...(head === '' ? [] : [head]), '---', text].join('\n');
