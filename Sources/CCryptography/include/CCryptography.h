// Signatures, authentication codes and sealing by OpenSSL's libcrypto. OpenSSL's headers stay inside
// CCryptography.c.
//
// Threads: whatever takes a `const` pointer may run on any thread at the same time; a `cc_cipher` is
// used by one thread at a time. Pointers to bytes are read and written during the call only.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { CC_CODE_BYTES = 32, CC_KEY_BYTES = 32, CC_NONCE_BYTES = 12, CC_TAG_BYTES = 16 };

/// A key of HMAC-SHA-256.
typedef struct evp_mac_ctx_st cc_code_key;
/// A key that verifies signatures of one algorithm.
typedef struct evp_pkey_st cc_public_key;
/// A key of AES-256-GCM.
typedef struct evp_cipher_ctx_st cc_cipher;

/// Bytes that somebody else keeps.
typedef struct {
  const void *first;
  size_t count;
} cc_bytes;

/// Prepares a key of any length; NULL where libcrypto has no memory, or no HMAC-SHA-256.
cc_code_key *cc_code_key_create(cc_bytes secret);
void cc_code_key_release(cc_code_key *key);

/// Writes the code of these bytes, CC_CODE_BYTES long. False without memory.
bool cc_code(const cc_code_key *key, cc_bytes bytes, unsigned char *code);

/// Derives `count` bytes by HKDF-SHA-256 (RFC 5869); without a salt `salt.count` is 0.
bool cc_derive(cc_bytes secret, cc_bytes salt, cc_bytes info, unsigned char *derived, size_t count);

/// Whether they are the same; the time that it takes tells nothing of where they differ.
bool cc_equal(const void *one, const void *other, size_t count);

/// An RSA key of 2,048 bits or more from the big-endian numbers of a JWK (RFC 7518 section 6.3.1), for
/// RSASSA-PKCS1-v1_5 with SHA-256. NULL: it is none.
cc_public_key *cc_rsa_key_create(cc_bytes modulus, cc_bytes exponent);

/// A point of P-256, 32 bytes each, for ECDSA with SHA-256. NULL: it does not lie on the curve.
cc_public_key *cc_p256_key_create(cc_bytes x, cc_bytes y);

/// An Ed25519 key of 32 bytes. NULL: it is none.
cc_public_key *cc_ed25519_key_create(cc_bytes key);

void cc_public_key_release(cc_public_key *key);

/// Whether the key's owner has signed these bytes. The signature has the form of a JWS: for ECDSA the two
/// numbers, 32 bytes each.
bool cc_verifies(const cc_public_key *key, cc_bytes signature, cc_bytes signed_bytes);

/// Prepares a key of CC_KEY_BYTES; NULL without memory.
cc_cipher *cc_cipher_create(const unsigned char *key);
void cc_cipher_release(cc_cipher *cipher);

/// Writes `text` encrypted, and CC_TAG_BYTES behind it, which authenticate `header` too. No nonce (of
/// CC_NONCE_BYTES) may come twice under a key.
bool cc_seal(cc_cipher *cipher, const unsigned char *nonce, cc_bytes header, cc_bytes text, unsigned char *sealed);

/// Writes what was sealed, CC_TAG_BYTES shorter. False where it was not sealed like that; then the bytes
/// written mean nothing.
bool cc_open(cc_cipher *cipher, const unsigned char *nonce, cc_bytes header, cc_bytes sealed, unsigned char *text);
