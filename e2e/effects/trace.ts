import path from 'node:path';

/** What a traced command did. */
export interface Trace {
  /** Programs that were started. */
  execs: string[];
  /** Paths that were opened for writing, created or changed. */
  writes: string[];
  /** Folders that were created. */
  folders: string[];
  deletes: string[];
  /** Addresses outside this machine's sockets. */
  connects: string[];
  kills: string[];
}

/** The system calls to trace. */
export const CALLS =
  'execve,execveat,open,openat,openat2,creat,truncate,mkdir,mkdirat,mknod,mknodat,unlink,unlinkat,rmdir,rename,renameat,renameat2,link,linkat,symlink,symlinkat,chmod,fchmodat,chown,lchown,fchownat,utimensat,connect,sendto,kill,chdir,fchdir,clone,clone3,fork,vfork';

/** Reads the output of `strace -f -y`. */
export function readTrace(text: string, folder: string): Trace {
  const reader = new TraceReader(folder);
  for (const line of joinUnfinished(text.split('\n'))) reader.read(line);
  return reader.toTrace();
}

/** Calls that others interrupted are printed in two parts. */
function joinUnfinished(lines: readonly string[]): string[] {
  const open = new Map<string, string>();
  return lines.flatMap((line) => {
    const [, pid = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      open.set(pid, rest.slice(0, -'<unfinished ...>'.length));
      return [];
    }
    const [, tail] = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest) ?? [];
    return tail === undefined ? [line] : [`${pid} ${open.get(pid) ?? ''}${tail}`];
  });
}

interface TracedCall {
  pid: string;
  rest: string;
  paths: string[];
  /** Whether it succeeded. */
  isDone: boolean;
}

class TraceReader {
  readonly #trace: Trace = { execs: [], writes: [], folders: [], deletes: [], connects: [], kills: [] };
  readonly #folders = new Map<string, string>();
  readonly #start: string;
  /** Files that the command itself created, such as temporary ones. */
  readonly #created = new Set<string>();
  readonly #gone = new Set<string>();

  constructor(folder: string) {
    this.#start = folder;
  }

  read(line: string): void {
    const [, pid = '', name = '', rest = ''] = /^(\d+)\s+(\w+)\((.*)$/.exec(line) ?? [];
    if (name === '') return;
    const isDone = / = \d+/.test(rest);
    const paths = [...rest.matchAll(/(?:(AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g)].map(([, , at, text = '']) =>
      path.resolve(at ?? this.#folders.get(pid) ?? this.#start, toPlain(text)),
    );
    this.#sort(name, { pid, rest, paths, isDone });
  }

  #sort(name: string, call: TracedCall): void {
    const { pid, rest, paths, isDone } = call;
    const [first] = paths;
    if (/^exec/.test(name)) this.#trace.execs.push(...(isDone && first ? [first] : []));
    else if (/^(clone|clone3|fork|vfork)$/.test(name)) this.#inherit(pid, rest);
    else if (/^f?chdir$/.test(name)) this.#move(call);
    else if (/^(connect|sendto)$/.test(name)) this.#connect(rest);
    else if (name === 'kill') this.#kill(pid, rest);
    else this.#change(name, call);
  }

  #move({ pid, rest, paths, isDone }: TracedCall): void {
    const folder = paths[0] ?? /<([^>]*)>/.exec(rest)?.[1];
    if (isDone && folder !== undefined) this.#folders.set(pid, folder);
  }

  #change(name: string, { rest, paths, isDone }: TracedCall): void {
    const [first, second] = paths;
    if (/^open/.test(name)) this.#open(first, rest, isDone);
    else if (/^(unlink|rmdir)/.test(name)) this.#delete(first, isDone);
    else if (/^rename/.test(name)) {
      this.#delete(first, isDone);
      this.#write(second);
    } else if (/^(link|symlink)/.test(name)) this.#write(paths.at(-1));
    else this.#create(name, first, isDone);
  }

  #inherit(pid: string, rest: string): void {
    const child = /= (\d+)\s*$/.exec(rest)?.[1];
    const folder = this.#folders.get(pid);
    if (child !== undefined && folder !== undefined && !this.#folders.has(child)) this.#folders.set(child, folder);
  }

  #open(file: string | undefined, rest: string, isDone: boolean): void {
    // A file without a name is gone with the program.
    if (!/O_(WRONLY|RDWR|CREAT|TRUNC)/.test(rest) || /O_TMPFILE/.test(rest)) return;
    if (isDone && /O_EXCL/.test(rest) && file) this.#created.add(file);
    this.#write(file);
  }

  #create(name: string, file: string | undefined, isDone: boolean): void {
    if (isDone && /^mk/.test(name) && file) this.#created.add(file);
    if (name.startsWith('mkdir') && file) this.#trace.folders.push(file);
    else this.#write(file);
  }

  /** coreutils replace files by temporary ones with names such as CuacIqEP. */
  #write(file: string | undefined): void {
    if (file !== undefined && !/^\/(dev|proc)\/|\/Cu[A-Za-z\d]{6}$/.test(file)) this.#trace.writes.push(file);
  }

  #delete(file: string | undefined, isDone: boolean): void {
    if (file === undefined) return;
    if (isDone && this.#created.has(file)) this.#gone.add(file);
    this.#trace.deletes.push(file);
  }

  #connect(rest: string): void {
    const address = /sin6?_addr=[^"]*"([^"]+)"|inet_pton\(AF_INET6, "([^"]+)"/.exec(rest);
    if (address) this.#trace.connects.push(address[1] ?? address[2] ?? '');
  }

  #kill(pid: string, rest: string): void {
    const [target = '', signal = '0'] = rest.replace(/\).*/, '').split(', ').slice(-2);
    if (signal !== '0' && target !== pid) this.#trace.kills.push(`${target} ${signal}`);
  }

  toTrace(): Trace {
    const isTemporary = (file: string) => this.#gone.has(file);
    return {
      ...this.#trace,
      writes: this.#trace.writes.filter((file) => !isTemporary(file)),
      folders: this.#trace.folders.filter((file) => !isTemporary(file)),
      deletes: this.#trace.deletes.filter((file) => !isTemporary(file)),
    };
  }
}

const toPlain = (text: string): string =>
  text.replace(/\\(\d{1,3}|.)/g, (_, code: string) =>
    /^\d/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : code === 'n' ? '\n' : code === 't' ? '\t' : code,
  );
