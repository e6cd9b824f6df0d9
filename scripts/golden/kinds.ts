// Writes test/golden/kinds/ anew from what this tree answers: node scripts/golden/kinds.ts [noun ...]
// For a change that is meant; the difference of the files is what is reviewed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { kindStories } from '../../test/support/kind-stories.ts';
import { goldenKindFile, tellKind } from '../../test/support/kind-story.ts';
import { startTestServer } from '../../test/support/server.ts';

const wanted = process.argv.slice(2);
const server = await startTestServer('sqlite');
for (const story of kindStories.filter(({ noun }) => wanted.length === 0 || wanted.includes(noun))) {
  const file = goldenKindFile(story.noun);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await tellKind(server, story));
}
await server.close();
