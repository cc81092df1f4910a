


    // !!! This file is generated using emlearn !!!

    #include <stdint.h>
    

static inline int32_t mytree_tree_0(const float *features, int32_t features_length) {
          if (features[15] < 0.001430f) {
              if (features[25] < -0.015995f) {
                  if (features[24] < 0.195345f) {
                      if (features[5] < -0.108965f) {
                          return 1;
                      } else {
                          return 0;
                      }
                  } else {
                      if (features[9] < 0.960785f) {
                          if (features[5] < -0.769620f) {
                              return 0;
                          } else {
                              if (features[4] < 0.031065f) {
                                  return 0;
                              } else {
                                  return 1;
                              }
                          }
                      } else {
                          return 0;
                      }
                  }
              } else {
                  if (features[20] < 0.263895f) {
                      return 0;
                  } else {
                      if (features[9] < -0.530595f) {
                          return 0;
                      } else {
                          if (features[21] < -0.543855f) {
                              return 0;
                          } else {
                              return 1;
                          }
                      }
                  }
              }
          } else {
              if (features[30] < -0.876605f) {
                  return 0;
              } else {
                  if (features[13] < -0.673170f) {
                      return 0;
                  } else {
                      if (features[6] < 0.018795f) {
                          return 0;
                      } else {
                          if (features[31] < -0.848065f) {
                              return 0;
                          } else {
                              if (features[4] < 0.231540f) {
                                  return 0;
                              } else {
                                  return 1;
                              }
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_1(const float *features, int32_t features_length) {
          if (features[19] < 0.975495f) {
              if (features[14] < 0.377860f) {
                  if (features[2] < 0.453630f) {
                      if (features[29] < 0.139910f) {
                          return 0;
                      } else {
                          if (features[2] < 0.105665f) {
                              return 0;
                          } else {
                              return 1;
                          }
                      }
                  } else {
                      if (features[18] < -0.023795f) {
                          return 1;
                      } else {
                          return 0;
                      }
                  }
              } else {
                  if (features[31] < 0.793545f) {
                      if (features[5] < -0.481700f) {
                          return 0;
                      } else {
                          if (features[7] < 0.720780f) {
                              if (features[11] < -0.675755f) {
                                  return 0;
                              } else {
                                  if (features[3] < -0.677630f) {
                                      return 0;
                                  } else {
                                      if (features[17] < 0.145230f) {
                                          return 1;
                                      } else {
                                          return 1;
                                      }
                                  }
                              }
                          } else {
                              return 0;
                          }
                      }
                  } else {
                      if (features[19] < 0.456375f) {
                          return 0;
                      } else {
                          return 1;
                      }
                  }
              }
          } else {
              if (features[26] < 0.691275f) {
                  if (features[17] < 0.500000f) {
                      return 0;
                  } else {
                      return 1;
                  }
              } else {
                  return 0;
              }
          }
        }
        

static inline int32_t mytree_tree_2(const float *features, int32_t features_length) {
          if (features[6] < 0.009805f) {
              if (features[26] < 0.047415f) {
                  if (features[4] < 0.020990f) {
                      return 0;
                  } else {
                      return 1;
                  }
              } else {
                  return 0;
              }
          } else {
              if (features[9] < -0.749810f) {
                  return 0;
              } else {
                  if (features[24] < 0.998475f) {
                      if (features[30] < -0.857375f) {
                          return 0;
                      } else {
                          if (features[7] < -0.524905f) {
                              return 0;
                          } else {
                              if (features[6] < 0.091450f) {
                                  if (features[16] < -0.055180f) {
                                      return 1;
                                  } else {
                                      return 0;
                                  }
                              } else {
                                  if (features[32] < 0.993370f) {
                                      return 1;
                                  } else {
                                      if (features[30] < 0.744635f) {
                                          return 0;
                                      } else {
                                          return 1;
                                      }
                                  }
                              }
                          }
                      }
                  } else {
                      if (features[31] < -0.101220f) {
                          if (features[20] < 0.487000f) {
                              return 0;
                          } else {
                              return 1;
                          }
                      } else {
                          if (features[7] < -0.006075f) {
                              if (features[7] < -0.097475f) {
                                  return 0;
                              } else {
                                  return 1;
                              }
                          } else {
                              return 0;
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_3(const float *features, int32_t features_length) {
          if (features[27] < -0.936175f) {
              if (features[8] < -0.134850f) {
                  if (features[0] < 0.500000f) {
                      return 0;
                  } else {
                      return 1;
                  }
              } else {
                  return 0;
              }
          } else {
              if (features[4] < 0.231540f) {
                  return 0;
              } else {
                  if (features[15] < 0.946370f) {
                      if (features[33] < 0.950980f) {
                          if (features[23] < 0.944345f) {
                              if (features[2] < 0.436930f) {
                                  if (features[32] < 0.290170f) {
                                      if (features[12] < -0.119080f) {
                                          return 0;
                                      } else {
                                          return 1;
                                      }
                                  } else {
                                      if (features[3] < -0.184845f) {
                                          return 1;
                                      } else {
                                          return 0;
                                      }
                                  }
                              } else {
                                  if (features[5] < -0.747290f) {
                                      return 0;
                                  } else {
                                      if (features[3] < -0.786120f) {
                                          return 0;
                                      } else {
                                          return 1;
                                      }
                                  }
                              }
                          } else {
                              return 0;
                          }
                      } else {
                          if (features[24] < 0.730350f) {
                              return 0;
                          } else {
                              if (features[7] < 0.610540f) {
                                  return 1;
                              } else {
                                  return 0;
                              }
                          }
                      }
                  } else {
                      return 0;
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_4(const float *features, int32_t features_length) {
          if (features[27] < -0.936175f) {
              return 0;
          } else {
              if (features[30] < 0.198720f) {
                  if (features[32] < -0.085725f) {
                      if (features[5] < 0.175345f) {
                          if (features[15] < -0.320250f) {
                              if (features[21] < -0.128760f) {
                                  return 1;
                              } else {
                                  return 0;
                              }
                          } else {
                              return 0;
                          }
                      } else {
                          return 1;
                      }
                  } else {
                      if (features[33] < -0.003235f) {
                          if (features[19] < 0.059170f) {
                              if (features[24] < -0.092035f) {
                                  return 0;
                              } else {
                                  return 1;
                              }
                          } else {
                              return 0;
                          }
                      } else {
                          return 0;
                      }
                  }
              } else {
                  if (features[3] < -0.786120f) {
                      return 0;
                  } else {
                      if (features[8] < 0.765265f) {
                          if (features[4] < 0.878265f) {
                              return 1;
                          } else {
                              if (features[19] < 0.343645f) {
                                  return 0;
                              } else {
                                  return 1;
                              }
                          }
                      } else {
                          if (features[5] < -0.866855f) {
                              return 0;
                          } else {
                              return 1;
                          }
                      }
                  }
              }
          }
        }
        

int32_t mytree_predict(const float *features, int32_t features_length) {

        int32_t votes[2] = {0,};
        int32_t _class = -1;

        _class = mytree_tree_0(features, features_length); votes[_class] += 1;
    _class = mytree_tree_1(features, features_length); votes[_class] += 1;
    _class = mytree_tree_2(features, features_length); votes[_class] += 1;
    _class = mytree_tree_3(features, features_length); votes[_class] += 1;
    _class = mytree_tree_4(features, features_length); votes[_class] += 1;
    
        int32_t most_voted_class = -1;
        int32_t most_voted_votes = 0;
        for (int32_t i=0; i<2; i++) {

            if (votes[i] > most_voted_votes) {
                most_voted_class = i;
                most_voted_votes = votes[i];
            }
        }
        return most_voted_class;
    }
    

int mytree_predict_proba(const float *features, int32_t features_length, float *out, int out_length) {

        int32_t _class = -1;

        for (int i=0; i<out_length; i++) {
            out[i] = 0.0f;
        }

        _class = mytree_tree_0(features, features_length); out[_class] += 1.0f;
    _class = mytree_tree_1(features, features_length); out[_class] += 1.0f;
    _class = mytree_tree_2(features, features_length); out[_class] += 1.0f;
    _class = mytree_tree_3(features, features_length); out[_class] += 1.0f;
    _class = mytree_tree_4(features, features_length); out[_class] += 1.0f;
    
        // compute mean
        for (int i=0; i<out_length; i++) {
            out[i] = out[i] / 5;
        }
        return 0;
    }
    

            int32_t
            predict_wrapper(const float *values, int length) {
                // Convert to whatever is needed for inline
                float features[34];
                for (int i=0; i<length; i++) {
                    features[i] = (float)values[i];
                }
                const int32_t out = mytree_predict(features, length);
                if (out < 0) {
                    return -out;
                }
                return out;
            }

            int
            predict_proba_wrapper(const float *values, int length, float *outputs, int n_outputs) {
                // Convert to whatever is needed for inline
                float features[34];
                for (int i=0; i<length; i++) {
                    features[i] = (float)values[i];
                }

                const int err =                     mytree_predict_proba(features, length, outputs, n_outputs);

                return err;
            }
            