// The tenant's pictures in a document, as base64. They stand before the settings, whose branding names them.
import Type from 'typebox';
import { imageBytesMax } from '../../../contract/limits.ts';
import type { Queries } from '../../../storage/engine/database.ts';
import { deleteImage, findImage, pageOfImages, type StoredImage } from '../../../storage/registry/images.ts';
import { recordAct } from '../../administration.ts';
import { pictureExpected, readImage, storeImage } from '../../appearance/images.ts';
import { closed } from '../../schema-pieces.ts';
import { faultAt, type Kind, type Stored } from '../document.ts';

const schema = closed({ content: Type.String({ maxLength: Math.ceil(imageBytesMax / 3) * 4 }) });
/** Pictures of a page: each is as long as a thousand other items. */
const imagesAtOnce = 10;

export const imageKind: Kind = {
  section: 'images',
  noun: 'image',
  schema,
  uniqueField: 'content',
  isConfiguration: true,
  examine: (_session, declared) => {
    const { content } = declared.value as { readonly content: string }; // checked by the schema
    const image = readImage(Buffer.from(content, 'base64'));
    if (image === undefined) throw faultAt(declared, ['content'], `base64 of ${pictureExpected}`, content);
    return { id: image.sha256, title: image.sha256, fields: { content: image.content }, declared };
  },
  newId: () => '', // an image always has one
  find: async (queries, { tenant }, items) => {
    const matches: { readonly stored: Stored | undefined }[] = [];
    for (const { title } of items) {
      const image = await findImage(queries, tenant.id, title);
      matches.push({ stored: image && storedOf(image) });
    }
    return matches;
  },
  create: async (queries: Queries, { administration, tenant, by }, items) => {
    for (const { desired } of items) {
      const image = readImage(Buffer.from(String(desired.fields['content']), 'base64'))!; // examined
      await storeImage(queries, administration, tenant.id, image, by);
    }
  },
  update: async () => undefined, // another picture has another name
  page: async (queries, { tenant }, after) => (await pageOfImages(queries, tenant.id, after, imagesAtOnce)).map(storedOf),
  remove: async (queries, { administration, tenant, by }, { id }) => {
    await deleteImage(queries, tenant.id, id);
    await recordAct(queries, administration, tenant.id, by, { type: 'image.deleted', target: `image:${id}` });
  },
  write: (_session, { fields }) => fields,
};

const storedOf = ({ sha256, content }: StoredImage): Stored => ({ id: sha256, title: sha256, fields: { content } });
