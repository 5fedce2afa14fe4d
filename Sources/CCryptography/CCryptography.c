#include "CCryptography.h"

#include <limits.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rsa.h>
#include <string.h>

enum { MIN_RSA_BITS = 2048, COORDINATE_BYTES = 32 };

// A failure leaves nothing in the thread's queue, where the TLS of the same thread would find it.
static bool told(bool is_done) {
  if (!is_done) ERR_clear_error();
  return is_done;
}

// Codes

cc_code_key *cc_code_key_create(cc_bytes secret) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0), OSSL_PARAM_construct_end()};
  EVP_MAC *kind = EVP_MAC_fetch(NULL, "HMAC", NULL);
  EVP_MAC_CTX *key = kind ? EVP_MAC_CTX_new(kind) : NULL;
  EVP_MAC_free(kind);
  // NULL would mean the key of before.
  const void *first = secret.count ? secret.first : "";
  if (told(key && EVP_MAC_init(key, first, secret.count, parameters) == 1)) return key;
  EVP_MAC_CTX_free(key);
  return NULL;
}

void cc_code_key_release(cc_code_key *key) { EVP_MAC_CTX_free(key); }

bool cc_code(const cc_code_key *key, cc_bytes bytes, unsigned char *code) {
  EVP_MAC_CTX *copy = EVP_MAC_CTX_dup(key);
  size_t count = 0;
  bool is_done = copy && EVP_MAC_update(copy, bytes.first, bytes.count) == 1 &&
                 EVP_MAC_final(copy, code, &count, CC_CODE_BYTES) == 1 && count == CC_CODE_BYTES;
  EVP_MAC_CTX_free(copy);
  return told(is_done);
}

bool cc_derive(cc_bytes secret, cc_bytes salt, cc_bytes info, unsigned char *derived, size_t count) {
  OSSL_PARAM parameters[5];
  size_t next = 0;
  parameters[next++] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0);
  parameters[next++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret.first, secret.count);
  if (salt.count) parameters[next++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt.first, salt.count);
  if (info.count) parameters[next++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info.first, info.count);
  parameters[next] = OSSL_PARAM_construct_end();
  EVP_KDF *kind = EVP_KDF_fetch(NULL, "HKDF", NULL);
  EVP_KDF_CTX *context = kind ? EVP_KDF_CTX_new(kind) : NULL;
  bool is_done = context && EVP_KDF_derive(context, derived, count, parameters) == 1;
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kind);
  return told(is_done);
}

bool cc_equal(const void *one, const void *other, size_t count) { return CRYPTO_memcmp(one, other, count) == 0; }

// Signatures

static EVP_PKEY *key_of(const char *type, OSSL_PARAM *parameters) {
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
  EVP_PKEY *key = NULL;
  if (context && EVP_PKEY_fromdata_init(context) == 1) EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
  EVP_PKEY_CTX_free(context);
  return key;
}

static bool is_good(EVP_PKEY *key) {
  EVP_PKEY_CTX *context = key ? EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL) : NULL;
  bool is_good = context && EVP_PKEY_public_check(context) == 1;
  EVP_PKEY_CTX_free(context);
  return is_good;
}

static cc_public_key *checked(EVP_PKEY *key, int least_bits) {
  if (told(is_good(key) && EVP_PKEY_get_bits(key) >= least_bits)) return key;
  EVP_PKEY_free(key);
  return NULL;
}

static BIGNUM *number_of(cc_bytes bytes) {
  return bytes.count <= INT_MAX ? BN_bin2bn(bytes.first, (int)bytes.count, NULL) : NULL;
}

cc_public_key *cc_rsa_key_create(cc_bytes modulus, cc_bytes exponent) {
  BIGNUM *n = number_of(modulus), *e = number_of(exponent);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM *parameters = NULL;
  if (n && e && builder && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
    parameters = OSSL_PARAM_BLD_to_param(builder);
  cc_public_key *key = checked(parameters ? key_of("RSA", parameters) : NULL, MIN_RSA_BITS);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  BN_free(n);
  BN_free(e);
  return key;
}

cc_public_key *cc_p256_key_create(cc_bytes x, cc_bytes y) {
  if (x.count != COORDINATE_BYTES || y.count != COORDINATE_BYTES) return NULL;
  unsigned char point[1 + 2 * COORDINATE_BYTES] = {POINT_CONVERSION_UNCOMPRESSED};
  memcpy(point + 1, x.first, COORDINATE_BYTES);
  memcpy(point + 1 + COORDINATE_BYTES, y.first, COORDINATE_BYTES);
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)"P-256", 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point), OSSL_PARAM_construct_end()};
  return checked(key_of("EC", parameters), 0);
}

cc_public_key *cc_ed25519_key_create(cc_bytes key) {
  EVP_PKEY *made = EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL, key.first, key.count);
  told(made);
  return made;
}

void cc_public_key_release(cc_public_key *key) { EVP_PKEY_free(key); }

static bool verifies(EVP_PKEY *key, const char *digest, cc_bytes signature, cc_bytes signed_bytes) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  // RSA's padding is that of PKCS #1 v1.5 where none is set.
  bool is_good = context && EVP_DigestVerifyInit_ex(context, NULL, digest, NULL, NULL, key, NULL) == 1 &&
                 EVP_DigestVerify(context, signature.first, signature.count, signed_bytes.first, signed_bytes.count) == 1;
  EVP_MD_CTX_free(context);
  return told(is_good);
}

// OpenSSL takes the numbers of ECDSA in DER alone.
static bool verifies_numbers(EVP_PKEY *key, cc_bytes signature, cc_bytes signed_bytes) {
  if (signature.count != 2 * COORDINATE_BYTES) return false;
  ECDSA_SIG *numbers = ECDSA_SIG_new();
  BIGNUM *r = BN_bin2bn(signature.first, COORDINATE_BYTES, NULL);
  BIGNUM *s = BN_bin2bn((const unsigned char *)signature.first + COORDINATE_BYTES, COORDINATE_BYTES, NULL);
  unsigned char *der = NULL;
  int count = 0;
  if (numbers && r && s && ECDSA_SIG_set0(numbers, r, s) == 1) {
    r = s = NULL;
    count = i2d_ECDSA_SIG(numbers, &der);
  }
  bool is_good = count > 0 && verifies(key, "SHA256", (cc_bytes){der, (size_t)count}, signed_bytes);
  OPENSSL_free(der);
  ECDSA_SIG_free(numbers);
  BN_free(r);
  BN_free(s);
  return told(is_good);
}

bool cc_verifies(const cc_public_key *key, cc_bytes signature, cc_bytes signed_bytes) {
  // EVP_DigestVerifyInit counts a reference to the key, by an atomic, and reads it.
  EVP_PKEY *shared = (EVP_PKEY *)key;
  if (EVP_PKEY_is_a(key, "EC")) return verifies_numbers(shared, signature, signed_bytes);
  // Ed25519 has its own digest.
  return verifies(shared, EVP_PKEY_is_a(key, "RSA") ? "SHA256" : NULL, signature, signed_bytes);
}

// Sealing

cc_cipher *cc_cipher_create(const unsigned char *key) {
  EVP_CIPHER *kind = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
  EVP_CIPHER_CTX *cipher = kind ? EVP_CIPHER_CTX_new() : NULL;
  // Its nonce has 12 bytes where no other length is set.
  bool is_done = cipher && EVP_CipherInit_ex2(cipher, kind, key, NULL, 1, NULL) == 1;
  EVP_CIPHER_free(kind);
  if (told(is_done)) return cipher;
  EVP_CIPHER_CTX_free(cipher);
  return NULL;
}

void cc_cipher_release(cc_cipher *cipher) { EVP_CIPHER_CTX_free(cipher); }

// The key stays, the nonce is new.
static bool begin(cc_cipher *cipher, const unsigned char *nonce, bool seals, cc_bytes header) {
  int count;
  return header.count <= INT_MAX && EVP_CipherInit_ex2(cipher, NULL, NULL, nonce, seals, NULL) == 1 &&
         (!header.count || EVP_CipherUpdate(cipher, NULL, &count, header.first, (int)header.count) == 1);
}

bool cc_seal(cc_cipher *cipher, const unsigned char *nonce, cc_bytes header, cc_bytes text, unsigned char *sealed) {
  int count = 0, more = 0;
  return told(
      text.count <= INT_MAX && begin(cipher, nonce, true, header) &&
      (!text.count || EVP_CipherUpdate(cipher, sealed, &count, text.first, (int)text.count) == 1) &&
      EVP_CipherFinal_ex(cipher, sealed + count, &more) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, CC_TAG_BYTES, sealed + text.count) == 1);
}

bool cc_open(cc_cipher *cipher, const unsigned char *nonce, cc_bytes header, cc_bytes sealed, unsigned char *text) {
  if (sealed.count < CC_TAG_BYTES || sealed.count > INT_MAX) return false;
  size_t length = sealed.count - CC_TAG_BYTES;
  void *tag = (unsigned char *)sealed.first + length;
  unsigned char none[1];
  if (!length) text = none;
  int count = 0, more = 0;
  return told(
      begin(cipher, nonce, false, header) &&
      (!length || EVP_CipherUpdate(cipher, text, &count, sealed.first, (int)length) == 1) &&
      EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, CC_TAG_BYTES, tag) == 1 &&
      EVP_CipherFinal_ex(cipher, text + count, &more) == 1);
}
