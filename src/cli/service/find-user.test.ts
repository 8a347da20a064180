import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { test } from 'node:test';
import { findUser } from './find-user.ts';
import type { Command } from './service.ts';

const answering =
  (line: string, asked: Command[] = []) =>
  async (command: Command) => {
    asked.push(command);
    return `${line}\n`;
  };

test('a user is found through the directory of the operating system', async () => {
  const asked: Command[] = [];
  const linux = await findUser('ann', 'linux', answering('ann:x:1000:1000:Ann:/srv/ann:/bin/sh', asked));
  const mac = await findUser('ann', 'darwin', answering('ann:***:501:20::0:0:Ann:/Users/ann:/bin/zsh', asked));
  assert.deepEqual([linux.userHome, mac.userHome], ['/srv/ann', '/Users/ann']);
  assert.deepEqual(asked, [
    ['getent', 'passwd', '--', 'ann'],
    ['id', '-P', '--', 'ann'],
  ]);
});

test('a number, an unknown user, and a user without a home are refused', async () => {
  const unknown = async () => Promise.reject(new Error('exit code 2'));
  for (const ask of [answering('ann:x:1000:1000:Ann:/srv/ann:/bin/sh'), unknown])
    await assert.rejects(findUser('1000', 'linux', ask), { name: 'UsageError', message: /no user "1000"/ });
  await assert.rejects(findUser('ann', 'linux', answering('ann:x:1000:1000:Ann::/bin/sh')), /no user "ann"/);
});

test('the user of this process is found', { skip: process.platform !== 'linux' }, async () => {
  const { username, homedir } = userInfo();
  assert.deepEqual(await findUser(username, 'linux'), { name: username, userHome: homedir });
});
