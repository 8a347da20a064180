import type { HeldFolder } from '../../agent/tools/files/held-folder.ts';
import type { Workdirs } from '../workstreams/workdirs.ts';

/** For tests whose tools use no files: every path is a folder that never changes. */
export const fakeWorkdirs: Workdirs = {
  choose: async (asked = '/work') => ({ folder: { path: asked, ino: '7' }, statements: [] }),
  identify: async (path) => ({ path, ino: '7' }),
  hold: ({ workdir }) => ({ path: workdir, check: async () => ({ folder: fakeFolder(workdir), readable: [] }) }),
  release: async () => undefined,
};

const fakeFolder = (path: string): HeldFolder => ({
  ...{ path, ino: '7', fd: -1, way: path },
  isInPlace: async () => true,
  [Symbol.asyncDispose]: async () => undefined,
});
