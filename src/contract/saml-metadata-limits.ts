// Bounds on metadata of service providers, given or read from its address; the rest of SAML is in limits.ts. Each has a test at n and n+1.
import { samlXmlLimits } from './limits.ts';

/** Metadata given by an administrator is wider: it carries contacts, logos and texts. */
export const samlMetadataXmlLimits = { ...samlXmlLimits, bytesMax: 128 * 1024, elementsMax: 5000, namespaceDeclarationsMax: 1000 } as const;
/** Metadata that is fetched may be a federation's. */
export const samlFetchedMetadataXmlLimits = {
  ...samlMetadataXmlLimits,
  bytesMax: 1024 * 1024,
  elementsMax: 50_000,
  namespaceDeclarationsMax: 20_000,
} as const;
export const samlMetadataEntitiesMax = 1000;
export const samlRefreshMsMin = 60 * 60_000;
export const samlRefreshMsMax = 7 * 24 * 60 * 60_000;

/** Addresses of a tenant read because somebody asks for it. */
export const samlMetadataReadsPerMinuteMax = 60;
/** Of what an import would register, which says whether it is what somebody was shown. */
export const samlImportDigestChars = 43;
